// Package regular opens, writes and locks regular files with paths from a user or
// from a user's file. It rejects a named pipe, a terminal or an endless device at once;
// os.Open could wait for these, or read without end. WriteFile replaces a file atomically,
// also through a symbolic link; Lock and LockAll keep other programs from writing it
// meanwhile, and WriteLocked does both.
//
// Use it wherever a path comes from outside.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/bnctl/bnctl/problem"
)

// ErrNotRegular is wrapped by errors about a path that exists and is not a regular
// file.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a regular file for reading; links are followed. Opening never waits. The check is made
// on the open file, so that the file cannot be replaced between check and use. For a file at a URL,
// Open opens the local copy: see SetRemote. Errors are *fs.PathError.
func Open(path string) (*os.File, error) {
	if r := RemoteOf(path); r != nil {
		return openRemote(r, path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if path == "-" && errors.Is(err, fs.ErrNotExist) {
		return nil, &fs.PathError{Op: "open", Path: path,
			Err: problem.Advise("write what it holds to a file, and name that",
				"%w here, and standard input is read as an input of predict alone", fs.ErrNotExist)}
	}
	return checked(f, err)
}

// OpenIn does the same as Open for a path inside of a folder. Links out of the folder are not followed.
func OpenIn(root *os.Root, path string) (*os.File, error) {
	return checked(root.OpenFile(path, os.O_RDONLY|nonBlocking, 0))
}

// Read returns the content of a regular file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("more than %d bytes", limit)}
	}
	return b, err
}

// ReadAll returns the content of a regular file of any size.
func ReadAll(path string) ([]byte, error) { return Read(path, math.MaxInt64-1) }

func checked(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		cause := fmt.Errorf("%s is %w", kind(info.Mode()), ErrNotRegular)
		if info.Mode()&fs.ModeNamedPipe != 0 {
			cause = problem.Advise("write what it holds to a file, and name that", "%w: it is read more than once",
				cause)
		}
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: cause}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// kind returns the name of the kind of a file that is not regular.
func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "this"
}
