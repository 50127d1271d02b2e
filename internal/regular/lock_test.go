package regular

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/problem"
)

// A file can be locked once, and other programs see who has locked it. After unlock it is not locked, and a
// lock file left by a killed program does not lock it.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.bnc")
	if err := os.WriteFile(temporaryName(path, "lock"), []byte("999999999\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		unlock, err := Lock(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Lock(path)
		if want := fmt.Sprintf("(process %d)", os.Getpid()); !errors.Is(err, problem.ErrLocked) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("locked twice: %v, want %s", err, want)
		}
		other, err := Lock(path + "x")
		if err != nil {
			t.Fatal(err)
		}
		other()
		unlock()
		if entries, err := os.ReadDir(filepath.Dir(path)); len(entries) != 0 || err != nil {
			t.Errorf("left behind: %v, %v", entries, err)
		}
	}
	if _, err := Lock(filepath.Join(path, "nowhere")); err == nil {
		t.Error("a file in no folder was locked")
	}
}

// TestHolder reads the contents of lock files: the number of a process, or "unknown".
func TestHolder(t *testing.T) {
	for content, want := range map[string]string{"": "unknown", "12\n": "12", "12a\n": "unknown", "\n": "unknown"} {
		path := filepath.Join(t.TempDir(), "lock")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := lockOwner(path); got != want {
			t.Errorf("%q: process %s, want %s", content, got, want)
		}
	}
}
