package serialize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// written writes the bytes of a file.
func written(t *testing.T, b []byte) string {
	path := filepath.Join(t.TempDir(), "m.bnm")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOpenUnverified damages the last tensor. OpenUnverified accepts the file, and Open
// does not.
func TestOpenUnverified(t *testing.T) {
	b := fileOf(t)
	path := written(t, b)
	b[len(b)-1] ^= 1
	damaged := written(t, b)
	for _, test := range []struct{ path, want string }{{path, ""}, {damaged, "its checksum differs"}} {
		f, err := OpenUnverified(test.path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Model(); err != nil {
			t.Error(err)
		}
		for range 2 { // a second call returns the same
			if err := f.Verify(); (err == nil) != (test.want == "") || err != nil &&
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("Verified() = %v, want %q", err, test.want)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(damaged); err == nil {
		t.Error("Open took a damaged file")
	}
	if _, err := OpenUnverified(filepath.Join(t.TempDir(), "nowhere")); err == nil {
		t.Error("Start took no file")
	}
}

func TestChangedFileIsNotVerified(t *testing.T) {
	path := written(t, fileOf(t))
	f, err := OpenUnverified(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
	if err := f.Verify(); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("Verified() = %v of a file that was written to", err)
	}
}

// TestCloseEndsTheVerification closes a file at once.
func TestCloseEndsTheVerification(t *testing.T) {
	f, err := OpenUnverified(written(t, fileOf(t)))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
