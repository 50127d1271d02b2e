//go:build unix

package regular

import (
	"errors"
	"os"
	"syscall"

	"github.com/bnctl/bnctl/problem"
)

// tryLock opens and locks a file. If the owner has removed the file in the meantime, it
// opens a new one.
func tryLock(name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o666)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			f.Close()
			return nil, problem.ErrLocked
		}
		mine, err1 := f.Stat()
		there, err2 := os.Lstat(name)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			return f, nil
		}
		f.Close()
	}
}

// releaseLock removes the file while it is locked, so that a removed file is never locked.
func releaseLock(f *os.File) {
	os.Remove(f.Name())
	f.Close()
}
