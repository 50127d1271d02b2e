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

	"github.com/bnctl/bnctl/problem"
)

// WriteFile makes or replaces a file atomically. It calls write with a new file in the
// same folder, with that mode before the umask, and renames it to path when all of it
// is on the disk. After an error, or a crash at any point, the file at path is
// unchanged. WriteFile also removes unfinished files that killed programs have left for
// the same path.
func WriteFile(path string, mode fs.FileMode, write func(io.Writer) error) error {
	sweep(path)
	f, err := beside(path, mode)
	if err != nil {
		return err
	}
	if err = fill(f, write); err != nil {
		err = errors.Join(err, f.Close())
	} else {
		err = rename(f, path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("writing %s: %w; nothing was changed", path, err)
	}
	return syncFolder(filepath.Dir(path))
}

// Writable returns the error that WriteFile would return because path cannot be
// written, nil if it can. Call it before long work. It leaves no file behind.
func Writable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return problem.Advise("name a file", "%s is a folder", path)
	}
	f, err := beside(path, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// beside opens a new file of a mode in the folder of path, locked where there are locks.
func beside(path string, mode fs.FileMode) (*os.File, error) {
	for {
		f, err := os.OpenFile(unfinished(path, fmt.Sprintf("%08x", rand.Uint32())),
			os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be made in its folder: %w", path, errors.Unwrap(err))
		}
		if keep(f) {
			return f, nil
		}
		f.Close() // swept by another program before it was locked
	}
}

// unfinished names a file beside path that is to become it.
func unfinished(path, mark string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+mark)
}

// fill writes f and forces it to the disk.
func fill(f *os.File, write func(io.Writer) error) error {
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
