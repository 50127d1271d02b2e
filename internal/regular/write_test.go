package regular

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// wantOnly checks that a folder holds one file with that content.
func wantOnly(t *testing.T, path, content string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].Name() != filepath.Base(path) {
		t.Errorf("the folder holds %v, want %s alone", files, filepath.Base(path))
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != content {
		t.Errorf("%q in the file (%v), want %q", got, err, content)
	}
}

func TestWriteFileIsAllOrNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put := func(text string, fail error) error {
		return WriteFile(path, 0o666, func(w io.Writer) error {
			io.WriteString(w, text)
			return fail
		})
	}
	if err := put("old", nil); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	if err := put("half of the n", full); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	wantOnly(t, path, "old")
	if err := put("new", nil); err != nil {
		t.Fatal(err)
	}
	wantOnly(t, path, "new")
}

func TestWriteFileInNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "f")
	if err := WriteFile(path, 0o666, func(io.Writer) error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestWritable checks that Writable reports in advance that WriteFile cannot write, and
// that it leaves nothing.
func TestWritable(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{there: true, filepath.Join(dir, "new"): true, dir: false,
		filepath.Join(dir, "no folder", "new"): false, filepath.Join(there, "new"): false} {
		if err := Writable(path); (err == nil) != want {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if b, err := os.ReadFile(there); err != nil || string(b) != "x" {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// TestWhatIsNotOnTheDiskIsNotWritten: a pipe accepts all bytes, but cannot be forced to a
// disk.
func TestWhatIsNotOnTheDiskIsNotWritten(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if w.Sync() == nil {
		t.Skip("this system syncs pipes")
	}
	err = writeSynced(w, func(w io.Writer) error {
		_, err := io.WriteString(w, "all")
		return err
	})
	if err == nil {
		t.Error("what could not be forced to the disk counts as written")
	}
}
