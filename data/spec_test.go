package data

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wantError checks that err contains all the texts.
func wantError(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", texts)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not say %q", err, text)
		}
	}
}

// write writes a file into a new folder and returns its name.
func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// label returns the label of a sample.
func label(t *testing.T, src Source, i int) []int32 {
	t.Helper()
	l, err := src.Label(t.Context(), i)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// open opens a source that the test closes at its end.
func open(t *testing.T, text string, opt Options) Source {
	t.Helper()
	src, err := Open(t.Context(), text, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	})
	return src
}

func TestOpenMisused(t *testing.T) {
	for _, c := range []struct {
		text  string
		wants []string
	}{
		{"", []string{"unknown kind", "cifar10:PATH"}},
		{"imagenet:x", []string{`unknown kind "imagenet"`, "glyphs[:N]"}},
		{"testdata", []string{"say what is in it", "folder:testdata", "cifar10:PATH"}},
		{"testdata/boxes.json", []string{"a file", "coco:FILE, yolo:FOLDER", "coco:testdata/boxes.json"}},
		{"coco:x.json", []string{"a set with boxes", "objects/samples"}},
		{"cifar10", []string{"path is missing", "cifar10:PATH"}},
		{"cifar10:@test", []string{"path is missing"}},
		{"folder:", []string{"path is missing"}},
		{"glyphs:many", []string{"glyphs:many", "number of samples"}},
		{"glyphs:0", []string{"from 1"}},
		{"glyphs:99999999999", []string{"from 1"}},
		{"npy:x.npy", []string{"two files"}},
	} {
		_, err := Open(t.Context(), c.text, Options{})
		wantError(t, err, c.wants...)
		if !errors.Is(err, ErrSpec) {
			t.Errorf("Open(%q) = %v, which is not ErrSpec", c.text, err)
		}
	}
}

func TestOpenMissing(t *testing.T) {
	for _, kind := range []string{"cifar10:", "mnist:", "folder:", "npy:y.npy,"} {
		text := kind + filepath.Join(t.TempDir(), "nothing")
		_, err := Open(t.Context(), text, Options{})
		wantError(t, err, text, "no such file")
		if errors.Is(err, ErrSpec) {
			t.Errorf("Open(%q) = %v, which is ErrSpec", text, err)
		}
	}
}

func TestSplitOfSpec(t *testing.T) {
	for _, c := range []struct {
		text    string
		options Split
		want    Split
		len     int
	}{
		{"glyphs", "", Train, 6000},
		{"glyphs", Test, Test, 1000},
		{"glyphs@test", Train, Test, 1000},
		{"glyphs:1825@train", Test, Train, 1825},
	} {
		info := open(t, c.text, Options{Split: c.options}).Info()
		if info.Split != c.want || info.Len != c.len {
			t.Errorf("Open(%q, %q) is %d samples of %q, want %d of %q", c.text, c.options,
				info.Len, info.Split, c.len, c.want)
		}
	}
}

func TestIsSpec(t *testing.T) {
	for text, want := range map[string]bool{
		"glyphs": true, "glyphs@test": true, "glyphs:7": true, "cifar10:x": true, "x.npy": false,
		"folder": true, "./folder": false, "C:\\x": false, "": false,
	} {
		if got := isSpec(text); got != want {
			t.Errorf("isSpec(%q) = %v", text, got)
		}
	}
}
