package remote

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSweep checks that a folder is removed after its host is gone, and not before.
func TestSweep(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{"bnctl.socket-1", "bnctl.socket-2", "bnctl-demo-1"} {
		if err := os.MkdirAll(filepath.Join(base, name, "plugin-dir1"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	alive, err := locked(filepath.Join(base, "bnctl.socket-1"))
	if err != nil {
		t.Fatal(err)
	}
	left := func() (names string) {
		entries, err := os.ReadDir(base)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names += e.Name() + " "
		}
		return names
	}
	if sweep(base); left() != "bnctl-demo-1 bnctl.socket-1 " {
		t.Errorf("with one host alive there are %s", left())
	}
	alive.Close()
	if sweep(base); left() != "bnctl-demo-1 " {
		t.Errorf("with all hosts gone there are %s", left())
	}
	if err := os.MkdirAll(filepath.Join(base, "bnctl.socket-3", "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	if sweep(base); left() != "bnctl-demo-1 bnctl.socket-3 " {
		t.Errorf("a folder with something else in it: there are %s", left())
	}
}
