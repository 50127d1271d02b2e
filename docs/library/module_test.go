package library_test

import (
	"bytes"
	"image"
	"image/png"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile/formats"
	"github.com/bnctl/bnctl/models"
)

func TestMain(m *testing.M) {
	if fleet.Serve(os.Args) {
		return
	}
	os.Exit(m.Run())
}

// check ends a program that cannot go on.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

const module = "../examples/library"

// Another module trains on two devices, strips a checkpoint of PyTorch, and
// predicts a folder of pictures, each in a program of at most 20 lines.
func TestModule(t *testing.T) {
	bin, folder := t.TempDir(), t.TempDir()
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", bin, "./...")
	build.Dir = module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	draw(t, folder)
	for _, c := range []struct{ program, says, file string }{
		{"train", "^$", "glyphs.bnm"},
		{"strip", "^mlp-bn of pytorch zip with 235530 parameters\n$", "model.bnm"},
		{"predict", `photos.3\.png [0-9]\n.*photos.7\.png [0-9]\n$`, ""},
	} {
		run := exec.Command(filepath.Join(bin, c.program))
		run.Dir = folder
		out, err := run.CombinedOutput()
		if err != nil || !regexp.MustCompile(c.says).Match(out) {
			t.Errorf("%s: %v, it says %q, want %q", c.program, err, out, c.says)
		}
		if _, err := os.Stat(filepath.Join(folder, c.file)); err != nil {
			t.Errorf("%s: %v", c.program, err)
		}
		if n := lines(t, filepath.Join(module, c.program, "main.go")); n > 20 {
			t.Errorf("%s has %d lines, blank ones left out; want 20 at most", c.program, n)
		}
	}
}

// draw writes two digits as pictures, and the weights of a model as PyTorch has them.
func draw(t *testing.T, folder string) {
	t.Helper()
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err == nil {
		_, err = formats.SaveModel(filepath.Join(folder, "model.pth"), m)
	}
	if err != nil {
		t.Fatal(err)
	}
	src, err := data.Open(t.Context(), "glyphs:64", data.Options{Split: data.Test})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := os.Mkdir(filepath.Join(folder, "photos"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range src.Info().Len {
		label, err := src.Label(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		name := src.Info().Classes[label[0]]
		if name != "3" && name != "7" {
			continue
		}
		x, err := src.Sample(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		grey := &image.Gray{Pix: x.Bytes, Stride: x.Shape[1], Rect: image.Rect(0, 0, x.Shape[1], x.Shape[0])}
		if err := png.Encode(&file, grey); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "photos", name+".png"), file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// lines counts those of a file that are not blank.
func lines(t *testing.T, name string) (n int) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}
