// Package regular opens, writes and locks files that a user, or a file of a user,
// names: regular files only. A named pipe that nobody writes, a terminal or an endless
// device is refused at once; plain os.Open would wait for it, or read it for ever. What
// is written takes the place of a file all at once (WriteFile), and other programs can
// be kept from it meanwhile (Lock, Claim).
//
// Use it wherever a path comes from outside.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNot is wrapped by errors about what is there, and is no regular file.
var ErrNot = errors.New("not a regular file")

// Open opens a regular file for reading; links are followed. Opening never
// waits, and what was opened is what was looked at. Errors are *fs.PathError.
func Open(path string) (*os.File, error) {
	return checked(os.OpenFile(path, os.O_RDONLY|nonBlocking, 0))
}

// OpenIn is Open inside a folder that no path leads out of.
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

func checked(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: fmt.Errorf("%s is %w", kind(info.Mode()), ErrNot)}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// kind says what a file is that is not regular.
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
