package data

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBadFiles: one error reports all bad files of a folder. If the options permit it, they are left out, and
// the remaining files keep their labels.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	png := pngOf(t, 8, 8, 7)
	damaged := bytes.Clone(png)
	damaged[len(png)-20]++
	for name, content := range map[string][]byte{
		"a/0.png": nil, "a/1.png": png, "b/0.png": []byte("text"),
		"b/1.png": png,
		"b/2.png": damaged, "c/0.png": []byte("text"), "b/readme": []byte("text"),
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		skip int
		bad  []string // nil: the source opens without error
	}{
		{0, []string{"a/0.png", "b/0.png", "c/0.png"}}, // b/2.png is damaged after its header
		{3, []string{"a/0.png", "b/0.png", "b/2.png", "c/0.png"}},
		{4, nil}, {SkipAll, nil},
	} {
		src, err := Open(t.Context(), "folder:"+dir, Options{SkipBad: test.skip})
		var bad *BadFiles
		if test.bad != nil {
			if !errors.As(err, &bad) || len(bad.All) != len(test.bad) {
				t.Fatalf("skip %d: %v, want %v", test.skip, err, test.bad)
			}
			for _, name := range test.bad {
				if !strings.Contains(err.Error(), "member "+name+": ") {
					t.Errorf("skip %d: %s is not in %v", test.skip, name, err)
				}
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		info := src.Info()
		if info.Len != 2 || len(info.Skipped) != 4 || !slices.Equal(info.Classes, []string{"a", "b", "c"}) ||
			label(t, src, 0)[0] != 0 || label(t, src, 1)[0] != 1 || info.Ignored[""] != 1 {
			t.Errorf("skip %d: %+v", test.skip, info)
		}
		src.Close()
	}
}

// If a part of the data, like data@val, has bad files, the error is about the files, not about the suffix. A
// caller without an option to leave files out gets no advice to use it.
func TestBadFilesOfAPart(t *testing.T) {
	dir := unpack(t, []file{{"a/0.png", pngOf(t, 2, 2, 1)}, {"a/1.png", pngOf(t, 2, 2, 2)},
		{"b/0.png", pngOf(t, 2, 2, 3)}, {"b/1.png", pngOf(t, 2, 2, 4)}, {"b/2.png", []byte("text")}})
	h := Holdout{Fraction: 0.5}
	src := open(t, "folder:"+dir, Options{SkipBad: 1})
	sum, err := src.Fingerprint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	part := func(opt Options) error {
		src, err := OpenHeldOut(t.Context(), "folder:"+dir+"@val", opt, h, sum)
		if err == nil {
			src.Close()
		}
		return err
	}
	wantError(t, part(Options{}), "1 of 5 files are bad", "b/2.png", "or add skip-bad 1")
	if err := part(Options{CannotSkip: true}); err == nil || strings.Contains(err.Error(), "skip-bad") {
		t.Errorf("without the option: %v", err)
	}
	if err := part(Options{SkipBad: 1}); err != nil {
		t.Errorf("with the file left out: %v", err)
	}
}
