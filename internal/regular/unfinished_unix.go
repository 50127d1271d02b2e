//go:build unix

package regular

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// keep locks a new file for as long as it is open. It is false if the file
// was swept in the meantime. Where a file system has no locks nothing is swept.
func keep(f *os.File) bool {
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == syscall.EWOULDBLOCK {
		return false
	}
	_, err := os.Lstat(f.Name())
	return err == nil
}

// rename gives a file its name and closes it: it is locked until it has it.
func rename(f *os.File, path string) error {
	return errors.Join(os.Rename(f.Name(), path), f.Close())
}

// sweep removes unfinished files of path that nobody writes any more.
func sweep(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return // what is to be written there will say why
	}
	prefix := filepath.Base(unfinished(path, ""))
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
