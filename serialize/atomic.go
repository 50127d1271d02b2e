package serialize

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// WriteFile makes or replaces a file all at once: write gets a new file in
// the same folder, which takes the name only when all of it is on the disk.
// After an error, or a crash at any point, the file is what it was before.
func WriteFile(path string, write func(io.Writer) error) error {
	f, err := beside(path)
	if err != nil {
		return err
	}
	if err = fill(f, write); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("writing %s: %w; nothing was changed", path, err)
	}
	return syncFolder(filepath.Dir(path))
}

// beside opens a new file in the folder of path.
func beside(path string) (*os.File, error) {
	for {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x", filepath.Base(path), rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}

// fill writes f, forces it to the disk and closes it.
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
	return errors.Join(err, f.Close())
}
