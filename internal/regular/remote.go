package regular

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/bnctl/bnctl/problem"
)

// Remote gives access to files that are not on this machine. Package internal/store implements it; a program
// that calls SetRemote can open, list and write these files by their URLs. All methods may be called
// by several goroutines. Errors name the URL without credentials.
type Remote interface {
	// Owns reports whether a path is the URL of a remote file.
	Owns(path string) bool
	// Name returns url without credentials, for messages.
	Name(url string) string
	// Local returns the path of a local copy of the file or folder at url. The copy stays the same
	// for this Remote until Write replaces the file.
	Local(url string) (string, error)
	// Exists reports whether there is a file or a folder at url.
	Exists(url string) (bool, error)
	// Files returns the files below the folder at url in the order of their names, without
	// reading them. The folder may have any number of files.
	Files(url string) iter.Seq2[RemoteFile, error]
	// Writable returns the error that Write would return, if it is known in advance.
	Writable(url string) error
	// Write creates or replaces the file at url. Readers see the old file or the complete new one.
	Write(url string, write func(io.Writer) error) error
	// Lock keeps other programs on this machine from writing url.
	Lock(url string) (unlock func(), err error)
}

// RemoteFile is a file below a remote folder.
type RemoteFile struct {
	Name string // slash-separated, relative to the folder
	Size int64  // in bytes
	// Read returns the content. It is an error if the file has changed since it was listed.
	Read func() ([]byte, error)
	// ReadAhead starts to read the file in the background, so that Read does not wait. It may wait for
	// earlier files of the same kind.
	ReadAhead func()
}

// remote is the Remote of this program, or nil.
var remote atomic.Pointer[Remote]

// SetRemote sets the implementation that Open, WriteFile and Lock use for URLs. nil removes it.
func SetRemote(r Remote) {
	if r == nil {
		remote.Store(nil)
		return
	}
	remote.Store(&r)
}

// RemoteOf returns the Remote that owns a path, or nil for the path of a local file.
func RemoteOf(path string) Remote {
	if r := remote.Load(); r != nil && (*r).Owns(path) {
		return *r
	}
	return nil
}

// Local returns the path of a local copy of the file or folder at a URL. Other paths are returned
// unchanged.
func Local(path string) (string, error) {
	if r := RemoteOf(path); r != nil {
		return r.Local(path)
	}
	return path, nil
}

// Join returns the path of a file below a folder, which may be a URL. name has slashes. Without a name
// it returns the folder.
func Join(folder, name string) string {
	if RemoteOf(folder) != nil {
		if name == "" {
			return folder
		}
		return strings.TrimRight(folder, "/") + "/" + path.Clean(name)
	}
	return filepath.Join(folder, filepath.FromSlash(name))
}

// Dir returns the folder of a file, which may be a URL.
func Dir(file string) string {
	if RemoteOf(file) != nil {
		return strings.TrimRight(file[:strings.LastIndex(file, "/")+1], "/")
	}
	return filepath.Dir(file)
}

// Resolve does the same as Local, but after an error it returns path. Opening the path then returns the
// reason.
func Resolve(path string) string {
	if local, err := Local(path); err == nil {
		return local
	}
	return path
}

// Exists reports whether there is a file or a folder at a path or a URL. It returns an error if that is
// unknown.
func Exists(path string) (bool, error) {
	if r := RemoteOf(path); r != nil {
		return r.Exists(path)
	}
	_, err := os.Stat(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Reason returns an error without the name of the file or folder that it begins with, for a caller that
// names it.
func Reason(name string, err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		if err.Error() == name+": "+inner.Error() {
			return inner
		}
		if err.Error() != inner.Error() {
			break
		}
		err = inner
	}
	p, ok := err.(*problem.Error)
	rest, named := "", false
	if ok {
		rest, named = strings.CutPrefix(p.Text, name)
	}
	if !named || p.Field != "" || rest == "" {
		return err
	}
	short := *p
	if short.Text, named = strings.CutPrefix(rest, ": "); !named {
		short.Text = "it" + rest
	}
	return &short
}

// openRemote opens the local copy of a file at a URL.
func openRemote(r Remote, url string) (*os.File, error) {
	local, err := r.Local(url)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: r.Name(url), Err: Reason(r.Name(url), err)}
	}
	f, err := checked(os.OpenFile(local, os.O_RDONLY|nonBlocking, 0))
	var at *fs.PathError
	if errors.As(err, &at) {
		at.Path = r.Name(url)
	}
	return f, err
}
