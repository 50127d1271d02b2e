//go:build unix

package regular

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A temporary file left by a killed program is removed with the next write of the same
// file. A file that is still being written, or only has a similar name, is not.
func TestUnfinishedFilesAreSwept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.bnc")
	left := temporaryName(path, "0123abcd")
	others := []string{temporaryName(path, "notes"), temporaryName(path, "0123"), temporaryName(path+"x", "0123abcd"), path + ".0123abcd"}
	for _, name := range append(others, left) {
		if err := os.WriteFile(name, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	err := WriteFile(path, 0o666, func(w io.Writer) error {
		inner := WriteFile(path, 0o666, func(w io.Writer) error { // like another program at the same time
			_, err := io.WriteString(w, "inner")
			return err
		})
		_, err := io.WriteString(w, "outer")
		return errors.Join(inner, err)
	})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); string(b) != "outer" {
		t.Errorf("the file holds %q, %v", b, err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if want := len(others) + 1; len(entries) != want {
		t.Errorf("%v are there, want %d files", entries, want)
	}
	for _, name := range others {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("%s is gone", name)
		}
	}
}
