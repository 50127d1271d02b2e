//go:build unix

package serialize

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bnctl/bnctl/models"
)

// A file that cannot grow simulates a full disk: writes fail half-way.
func TestFullDiskLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.bnm")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := models.Build("lenet-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	limitFiles(t, 1<<20)
	if _, err := WriteModel(path, m); !errors.Is(err, unix.EFBIG) {
		t.Errorf("error %v, want %v", err, unix.EFBIG)
	}
	if got := string(read(t, path)); got != "old" {
		t.Errorf("%d bytes in the file, want the old ones", len(got))
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
}

// limitFiles lets no file of this process grow beyond n bytes during the test.
func limitFiles(t *testing.T, n uint64) {
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(unix.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
		signal.Reset(unix.SIGXFSZ)
	})
}
