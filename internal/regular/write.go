package regular

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// WriteFile creates or replaces a file atomically. It calls write with a temporary file in the same
// folder, with that mode before the umask or, if a file is replaced, with that file's, and renames
// it to path when all of it is on the disk. A symbolic link at path stays: its target is created or
// replaced. After an error, or a crash at any point, the file at path is unchanged. WriteFile also
// removes temporary files that killed programs have left for the same path. A file at a URL is
// uploaded: see SetRemote.
func WriteFile(path string, mode fs.FileMode, write func(io.Writer) error) error {
	if r := RemoteOf(path); r != nil {
		return r.Write(path, write)
	}
	file, err := target(path)
	if err != nil {
		return err
	}
	removeStale(file)
	f, err := createTemporary(file, mode)
	if err != nil {
		return err
	}
	if err = errors.Join(keepMode(f, file), writeSynced(f, write)); err != nil {
		err = errors.Join(err, f.Close())
	} else {
		err = rename(f, file)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("writing %s: %w; nothing was changed", path, err)
	}
	return syncFolder(filepath.Dir(file))
}

// WriteLocked does the same as WriteFile under the lock of path, for files that several programs may want to
// write: see Lock. If this program already holds the lock, it is not acquired again.
func WriteLocked(path string, mode fs.FileMode, write func(io.Writer) error) error {
	if !locks.locked(path) {
		unlock, err := Lock(path)
		if err != nil {
			return err
		}
		defer unlock()
	}
	return WriteFile(path, mode, write)
}

// Writable returns the error that WriteLocked would return because path cannot be written,
// or is locked, even by this program; nil if it can be written. Call it before long work.
// It leaves no file.
func Writable(path string) error {
	if r := RemoteOf(path); r != nil {
		return r.Writable(path)
	}
	file, err := target(path)
	if err != nil {
		return err
	}
	f, err := createTemporary(file, 0o666)
	if err != nil {
		return err
	}
	if err = errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return err
	}
	unlock, err := Lock(path)
	if err == nil {
		unlock()
	}
	return err
}

// keepMode gives f the permissions of the file that it replaces.
func keepMode(f *os.File, replaced string) error {
	info, err := os.Lstat(replaced)
	if err != nil {
		return nil // no file is replaced
	}
	if mine, err := f.Stat(); err == nil && mine.Mode().Perm() == info.Mode().Perm() {
		return nil
	}
	return f.Chmod(info.Mode().Perm())
}

// createTemporary creates a temporary file in the folder of path, locked where the file system has
// locks.
func createTemporary(path string, mode fs.FileMode) (*os.File, error) {
	for {
		f, err := os.OpenFile(temporaryName(path, fmt.Sprintf("%08x", rand.Uint32())),
			os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be made in its folder: %w", path, errors.Unwrap(err))
		}
		if lockOpen(f) {
			return f, nil
		}
		f.Close() // another program has removed the file before it was locked
	}
}

// temporaryName returns the name of a temporary file next to path.
func temporaryName(path, mark string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+mark)
}

// writeSynced writes f and forces it to the disk.
func writeSynced(f *os.File, write func(io.Writer) error) error {
	const buffer = 1 << 20
	w := bufio.NewWriterSize(f, buffer)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	return err
}
