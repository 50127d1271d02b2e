package onnx

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
)

// TestHostile: testdata/make_hostile.py made the files. Its WANT lists a required part of
// each error.
func TestHostile(t *testing.T) {
	want, err := os.ReadFile("testdata/hostile/WANT")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(want)) {
		name, sentence, _ := strings.Cut(strings.TrimSpace(line), "\t")
		_, err := opened(filepath.Join("testdata/hostile", name+".onnx"))
		if err == nil || !strings.Contains(err.Error(), sentence) {
			t.Errorf("%s: got error %v, want %q", name, err, sentence)
		}
		n++
	}
	if n < 50 {
		t.Errorf("%d files", n)
	}
}

// TestExternalLink: data that is reached by a link is not read; data in the folder is.
func TestExternalLink(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "model")
	if err := os.MkdirAll(filepath.Join(inner, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "secret"), filepath.Join(inner, "real", "data")} {
		if err := os.WriteFile(path, make([]byte, 64), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"file": "../secret", "dir": "real", "inside": "real/data"} {
		if err := os.Symlink(to, filepath.Join(inner, link)); err != nil {
			t.Skip("this file system has no links: " + err.Error())
		}
	}
	e := &decode.External{Dir: inner}
	for location, want := range map[string]string{"file": "links", "dir/data": "links", "inside": "links",
		"real/data": "",
		"../secret": "outside", "real/../../secret": "outside", filepath.Join(dir, "secret"): "outside"} {
		f, _, err := e.Open(location)
		if err == nil {
			f.Close()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got error %v, want %q", location, err, want)
		}
	}
}

// TestBombs refuses files that would need far more memory than they have bytes.
func TestBombs(t *testing.T) {
	list := func(field protowire.Number, entry []byte, n int) []byte {
		one := protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), entry)
		return bytes.Repeat(one, n)
	}
	message := func(field protowire.Number, body []byte) []byte { return list(field, body, 1) }
	const many = 1 << 20
	for name, b := range map[string][]byte{
		"nodes":        message(7, list(1, nil, many)),
		"attributes":   message(7, message(1, list(5, nil, many))),
		"initializers": message(7, list(5, nil, many)),
		"inputs":       message(7, list(11, nil, many)),
		"names":        message(7, message(1, list(1, nil, 4*many))),
		"numbers":      message(7, message(5, message(7, make([]byte, 16*many)))),
		"dims":         message(7, message(5, bytes.Repeat([]byte{0x08, 0}, 8*many))),
	} {
		_, err := ReadFrom(bytes.NewReader(b), int64(len(b)), Options{})
		if err == nil || !strings.Contains(err.Error(), "decoded the model would take") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/hostile/*.onnx")
	cases, errCases := filepath.Glob("testdata/cases/*.onnx")
	if err = cmp.Or(err, errCases); err != nil {
		f.Fatal(err)
	}
	for _, name := range slices.Concat(files, cases) {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := ReadFrom(bytes.NewReader(b), int64(len(b)), Options{})
		if err != nil {
			return
		}
		if file.NoModel == nil && file.Model.Check() != nil {
			t.Error("a model that is not valid was read")
		}
		for _, x := range file.Tensors {
			if _, err := x.Load(); err != nil {
				t.Errorf("%v was listed and can't be read: %v", x, err)
			}
		}
	})
}
