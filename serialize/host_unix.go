//go:build unix

package serialize

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file for reading and returns how to release it.
func mapFile(path string) ([]byte, func() error, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s is not a file", path)
	case info.Size() == 0:
		return nil, func() error { return nil }, nil
	case info.Size() > math.MaxInt:
		return nil, nil, fmt.Errorf("%s: %d bytes are more than this machine can map", path, info.Size())
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: mapping %d bytes: %w", path, info.Size(), err)
	}
	return b, func() error { return unix.Munmap(b) }, nil
}

// syncFolder forces a folder to the disk, so that a new name in it lasts.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
