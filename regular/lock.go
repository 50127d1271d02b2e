package regular

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// ErrLocked is wrapped by errors about a file that another program has locked for
// writing.
var ErrLocked = errors.New("another program writes it")

// Lock keeps other programs from locking path, until unlock is called or this program
// ends in any way. The lock is a file beside path, .NAME.lock, with the process ID of
// the program that holds it. A lock file that a dead program has left locks nothing.
// On a file system without locks, Lock does nothing.
func Lock(path string) (unlock func(), err error) {
	name := unfinished(path, "lock")
	f, err := take(name)
	if errors.Is(err, ErrLocked) {
		return nil, problem.Advise("wait for it, or name another file", "%s: %w (process %s)", path, err,
			holder(name))
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be locked: %w", path, err)
	}
	// The id is for people: the lock does not depend on it.
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return func() { give(f) }, nil
}

// holder returns the process id in a lock file, as far as it can be read.
func holder(name string) string {
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
