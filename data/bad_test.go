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

// TestBadFiles: all bad files of a folder are told at once; they may be left
// out, up to a number, and labels are those of the files that stay.
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
		bad  []string // nil: it opens
	}{
		{0, []string{"a/0.png", "b/0.png", "c/0.png"}}, // b/2.png is damaged further on
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
