//go:build !unix

package regular

import (
	"errors"
	"io/fs"
	"os"

	"github.com/bnctl/bnctl/problem"
)

// tryLock makes a file that must not be there. One that is left over can be
// removed; under Windows one that a program has open cannot.
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
