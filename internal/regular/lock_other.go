//go:build !unix

package regular

import (
	"errors"
	"io/fs"
	"os"

	"github.com/bnctl/bnctl/problem"
)

// tryLock creates the lock file, which must not exist. A lock file that a killed program left can be
// removed. Under Windows a file that a program has open cannot be removed.
func tryLock(name string) (*os.File, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, problem.ErrLocked
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, problem.ErrLocked
	}
	return f, err
}

func releaseLock(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}
