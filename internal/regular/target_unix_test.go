//go:build unix

package regular

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bnctl/bnctl/problem"
)

// TestLinksAreWrittenThrough checks that a link stays a link and that its target is
// written, with the target's permissions and lock. A link to nowhere, or to something other
// than a file, is rejected.
func TestLinksAreWrittenThrough(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{os.Mkdir(at("far"), 0o700), os.Mkdir(at("near"), 0o700),
		os.WriteFile(at("far/there"), []byte("old"), 0o640), os.Chmod(at("far/there"), 0o640),
		os.Symlink("far/there", at("one")), os.Symlink("one", at("two")),
		os.Symlink(at("far/new"), at("dangling")), os.Symlink("none/new", at("nowhere")),
		os.Symlink("b", at("a")), os.Symlink("a", at("b")), os.Symlink("far", at("folder")),
		os.Symlink("../far", at("near/up")),
		os.Symlink("../far/there", at("near/back")), os.Symlink(at("near"), at("nearby")),
		syscall.Mkfifo(at("fifo"), 0o600), os.Symlink("fifo", at("pipe"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ link, target, refused string }{
		{link: "one", target: "far/there"}, {link: "two", target: "far/there"},
		{link: "dangling", target: "far/new"}, {link: "nearby/back", target: "far/there"},
		{link: "near/up/there", target: "far/there"}, {link: "nowhere", refused: "in its folder"},
		{link: "a", refused: "round in a circle"}, {link: "folder", refused: "is a folder"},
		{link: "pipe", refused: "is a pipe"}, {link: "fifo", refused: "is a pipe"},
	} {
		before, _ := os.Readlink(at(c.link))
		err := errors.Join(Writable(at(c.link)), WriteLocked(at(c.link), 0o666, func(w io.Writer) error {
			_, err := io.WriteString(w, c.link)
			return err
		}))
		if after, _ := os.Readlink(at(c.link)); after != before {
			t.Errorf("%s: the link led to %q and leads to %q", c.link, before, after)
		}
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v, want %q", c.link, err, c.refused)
			}
			continue
		}
		if b, _ := os.ReadFile(at(c.target)); err != nil || string(b) != c.link {
			t.Errorf("%s: %v, and %s holds %q", c.link, err, c.target, b)
		}
	}
	if info, err := os.Stat(at("far/there")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("permissions %v, want those of the file that was there, 0640; %v", info.Mode(), err)
	}
	unlock, err := Lock(at("two"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, err := os.Stat(at("far/.there.lock")); err != nil {
		t.Errorf("the lock is not beside the file: %v", err)
	}
	for _, name := range []string{"far/there", "one", "nearby/back"} {
		if err := Writable(at(name)); !errors.Is(err, problem.ErrLocked) {
			t.Errorf("%s, whose file is locked: %v", name, err)
		}
	}
	if entries, err := os.ReadDir(at("far")); len(entries) != 3 || err != nil {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestWriteLocked: WriteLocked does not write a file that another program has locked. It writes a file that
// this program has locked, and the lock stays.
func TestWriteLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.bnm")
	write := func(text string) error {
		return WriteLocked(path, 0o666, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	}
	f, err := tryLock(temporaryName(path, "lock")) // as another program does
	if err != nil {
		t.Fatal(err)
	}
	if err := write("stolen"); !errors.Is(err, problem.ErrLocked) {
		t.Errorf("while another writes it: %v", err)
	}
	releaseLock(f)
	unlock, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := write("mine"); err != nil {
		t.Error(err)
	}
	if _, err := Lock(path); !errors.Is(err, problem.ErrLocked) {
		t.Errorf("the lock is gone after a write: %v", err)
	}
	unlock()
	if err := write("last"); err != nil {
		t.Error(err)
	}
	wantOnly(t, path, "last")
}
