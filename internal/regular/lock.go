package regular

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/problem"
)

// locks are the files that this program has locked.
var locks lockTable

// lockTable counts the locks on files, by their targets.
type lockTable struct {
	mutex sync.Mutex
	files map[string]bool
}

func (l *lockTable) set(file string, locked bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.files == nil {
		l.files = map[string]bool{}
	}
	if l.files[file] = locked; !locked {
		delete(l.files, file)
	}
}

// locked reports whether this program has locked the file that path names.
func (l *lockTable) locked(path string) bool {
	file, err := path, error(nil)
	if RemoteOf(path) == nil {
		file, err = lockedAs(path)
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return err == nil && l.files[file]
}

// lockedAs returns the canonical path of a file: locks are counted by this path.
func lockedAs(path string) (string, error) {
	file, err := target(path)
	if err != nil {
		return "", err
	}
	folder, err := filepath.Abs(resolveFolder(filepath.Dir(file)))
	return filepath.Join(folder, filepath.Base(file)), err
}

// Lock keeps other programs from locking path, until unlock is called or this program ends in any
// way. The lock is the file .NAME.lock next to path, or next to the target of a symbolic link at
// path. It contains the process ID of its owner. A lock file of a program that has ended locks
// nothing. On a file system without locks, Lock does nothing.
func Lock(path string) (unlock func(), err error) {
	if r := RemoteOf(path); r != nil {
		return lockRemote(r, path)
	}
	file, err := lockedAs(path)
	if err != nil {
		return nil, err
	}
	name := temporaryName(file, "lock")
	f, err := tryLock(name)
	if errors.Is(err, problem.ErrLocked) {
		return nil, problem.Advise("wait for it, or name another file", "%s: %w (process %s)", path, err,
			lockOwner(name))
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be locked: %w", path, err)
	}
	// The id is for people: the lock does not depend on it.
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	locks.set(file, true)
	return func() {
		locks.set(file, false)
		releaseLock(f)
	}, nil
}

// lockRemote implements Lock for a file at a URL.
func lockRemote(r Remote, url string) (unlock func(), err error) {
	release, err := r.Lock(url)
	if err != nil {
		return nil, err
	}
	locks.set(url, true)
	return func() {
		locks.set(url, false)
		release()
	}, nil
}

// lockOwner returns the process ID in a lock file, or "unknown".
func lockOwner(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 20))
	if id := strings.TrimSpace(string(b)); id != "" && strings.Trim(id, "0123456789") == "" {
		return id
	}
	return "unknown"
}
