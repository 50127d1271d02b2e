package remote

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/bnctl/bnctl/problem"
)

// folder contains the socket of one plugin, created by go-plugin. It exists only while host
// and plugin connect, and is locked as long as the host lives: a host that is killed at
// that moment leaves a folder without a lock, and the next host removes it.
type folder struct {
	path string
	lock *os.File
}

const (
	folderPrefix = "bnctl.socket-"
	folderMaking = "bnctl.making-" // not locked yet
)

var sweepOnce sync.Once

// The folder is created under one name, locked, and then renamed to a name that sweep looks
// for. Otherwise another host could remove it as an abandoned folder before it is locked.

// newFolder makes a folder that only the user can read. When it is called for the
// first time, it removes the folders that dead hosts have left.
func newFolder() (*folder, error) {
	base := folderBase()
	sweepOnce.Do(func() { sweep(base) })
	made, err := os.MkdirTemp(base, folderMaking)
	if err != nil {
		return nil, problem.Advise("set TMPDIR to a folder that is there and can be written",
			"no folder for its socket can be made: %w", err)
	}
	f := &folder{path: filepath.Join(base, folderPrefix+strings.TrimPrefix(filepath.Base(made), folderMaking))}
	if f.lock, err = locked(made); err == nil {
		err = os.Rename(made, f.path)
	}
	if err != nil {
		os.Remove(made)
		return nil, err
	}
	return f, nil
}

// folderBase returns the parent of the folders. The path of a socket may have 104 bytes.
// The parts of go-plugin and of this package have up to 63.
func folderBase() string {
	if d := os.TempDir(); len(d) < 40 {
		return d
	}
	return "/tmp"
}

// locked opens and locks a folder; it fails if another process holds the lock. The kernel
// releases the lock when the process ends, however it ends.
func locked(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweep removes the user's folders that are not locked by any process: their hosts are dead.
func sweep(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.IsDir() || !strings.HasPrefix(e.Name(), folderPrefix) {
			continue
		}
		if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Getuid() {
			continue
		}
		if f, err := locked(filepath.Join(base, e.Name())); err == nil {
			empty(f.Name())
			f.Close()
		}
	}
}

// empty removes a folder and the files that go-plugin creates in it. It leaves a folder with other
// files, because this package did not create it.
func empty(dir string) {
	sockets, err := filepath.Glob(filepath.Join(dir, "plugin-dir*"))
	for _, s := range sockets {
		err = errors.Join(err, os.RemoveAll(s))
	}
	if err == nil {
		_ = os.Remove(dir)
	}
}

// remove removes the folder and its contents. Further calls do nothing.
func (f *folder) remove() {
	if f.lock == nil {
		return
	}
	empty(f.path)
	f.lock.Close()
	f.lock = nil
}
