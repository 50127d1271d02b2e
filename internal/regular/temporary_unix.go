//go:build unix

package regular

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockOpen locks a new file for as long as it is open. It is false if another program has removed
// the file in the meantime. Where a file system has no locks, no file is removed.
func lockOpen(f *os.File) bool {
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == syscall.EWOULDBLOCK {
		return false
	}
	_, err := os.Lstat(f.Name())
	return err == nil
}

// rename renames f to path and closes it afterwards, so that f is locked until it has that name.
func rename(f *os.File, path string) error {
	return errors.Join(os.Rename(f.Name(), path), f.Close())
}

// removeStale removes temporary files of path that no program is writing.
func removeStale(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return // writing the file will report the reason
	}
	prefix := filepath.Base(temporaryName(path, ""))
	for _, e := range entries {
		mark, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok || len(mark) != 8 || strings.Trim(mark, "0123456789abcdef") != "" || !e.Type().IsRegular() {
			continue
		}
		f, err := os.Open(filepath.Join(filepath.Dir(path), e.Name()))
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.Remove(f.Name())
		}
		f.Close()
	}
}
