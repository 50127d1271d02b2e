//go:build unix

package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOpen: a regular file opens, through links too; everything else is refused at once, and the
// error names its kind.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	name := func(n string) string { return filepath.Join(dir, n) }
	if err := os.WriteFile(name("file"), []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{syscall.Mkfifo(name("fifo"), 0o600), os.Mkdir(name("folder"), 0o700),
		os.Symlink("file", name("link")), os.Symlink("fifo", name("linkfifo"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		path string
		kind string // "": Open opens the file
	}{
		{name("file"), ""}, {name("link"), ""}, {name("fifo"), "a pipe"}, {name("linkfifo"), "a pipe"},
		{name("folder"), "a folder"}, {"/dev/zero", "a device"},
	} {
		began := time.Now()
		f, err := Open(test.path)
		if f != nil {
			f.Close()
		}
		var path *fs.PathError
		switch {
		case test.kind == "" && err != nil:
			t.Errorf("%s: %v", test.path, err)
		case test.kind != "" && (!errors.Is(err, ErrNotRegular) || !errors.As(err, &path) ||
			!strings.Contains(err.Error(), test.path+": "+test.kind)):
			t.Errorf("%s: %v, want %s that is refused", test.path, err, test.kind)
		case time.Since(began) > 5*time.Second:
			t.Errorf("%s: it took %v", test.path, time.Since(began))
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := OpenIn(root, "fifo"); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a pipe in a folder: %v", err)
	}
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(path, 5); string(b) != "12345" || err != nil {
		t.Errorf("Read = %q, %v", b, err)
	}
	if _, err := Read(path, 4); err == nil || !strings.Contains(err.Error(), "more than 4 bytes") {
		t.Errorf("of a limit of 4 bytes: %v", err)
	}
	if _, err := Read("/dev/zero", 4); !errors.Is(err, ErrNotRegular) {
		t.Errorf("/dev/zero: %v", err)
	}
}
