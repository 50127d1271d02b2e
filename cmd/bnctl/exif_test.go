package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
)

// turnedMasks writes a picture of 48 x 32 pixels with EXIF orientation 6, so that it has 32 x 48 pixels when
// it is upright, and a mask of w x h pixels.
func turnedMasks(t *testing.T, w, h int) (spec string) {
	t.Helper()
	var picture, mask bytes.Buffer
	m := image.NewGray(image.Rect(0, 0, w, h))
	m.Pix[0] = 1
	if err := jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 48, 32)), nil); err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(&mask, m); err != nil {
		t.Fatal(err)
	}
	tags := "Exif\x00\x00II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00"
	file := slices.Concat([]byte("\xff\xd8\xff\xe1\x00"), []byte{byte(2 + len(tags))}, []byte(tags),
		picture.Bytes()[2:])
	dir := t.TempDir()
	for name, content := range map[string][]byte{"img/a.jpg": file, "msk/a.png": mask.Bytes()} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return "masks:" + dir + "/img," + dir + "/msk"
}

// Commands that show data read pictures as the command train does. They refuse the same pictures with the
// same value of --exif, and print the same fingerprint as the recipe has.
func TestDataIsReadAsTrainReadsIt(t *testing.T) {
	bnctl := func(args ...string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		code = run(context.Background(), append([]string{"bnctl", "--json"}, args...), &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	for _, c := range []struct {
		w, h int
		exif string // value of --exif; "" is the default
		fits bool
	}{{32, 48, "", true}, {48, 32, "", false}, {32, 48, "apply", true}, {32, 48, "ignore", false},
		{48, 32, "ignore", true}} {
		spec, how := turnedMasks(t, c.w, c.h), []string{}
		if c.exif != "" {
			how = []string{"--exif", c.exif}
		}
		want := exitDone
		if !c.fits {
			want = exitFailed
		}
		grid, model := filepath.Join(t.TempDir(), "g.png"), filepath.Join(t.TempDir(), "m.bnm")
		code, info, errs := bnctl(append([]string{"data", "info", spec}, how...)...)
		if code != want {
			t.Errorf("%+v: data info exits %d, want %d: %s", c, code, want, errs)
		}
		if code, _, errs := bnctl(append([]string{"data", "show", spec, "-o", grid}, how...)...); code != want {
			t.Errorf("%+v: data show exits %d, want %d: %s", c, code, want, errs)
		}
		code, log, errs := bnctl(append([]string{"train", "--model", "unet-bn", "--data", spec, "--steps", "1",
			"--batch", "1", "--replicas", "1", "--devices", "cpu", "-o", model}, how...)...)
		if code != want {
			t.Errorf("%+v: train exits %d, want %d: %s", c, code, want, errs)
		}
		var r data.Report
		if c.fits && (json.Unmarshal([]byte(info), &r) != nil || r.Fingerprint == "" ||
			!strings.Contains(log, r.Fingerprint)) {
			t.Errorf("%+v: the fingerprint of data info, %q, is not in the log of train", c, r.Fingerprint)
		}
	}
	if code, _, errs := bnctl("data", "info", "glyphs:4", "--exif", "sideways"); code != exitMisused ||
		!strings.Contains(errs, "want apply or ignore") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
