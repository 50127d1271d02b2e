package shm

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// New creates a segment of the given size. It is a file without a name that children can inherit or
// open through /proc. It uses no memory until Reserve.
func New(bytes int) (*os.File, error) {
	fd, err := unix.MemfdCreate("bnctl", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("shared memory: memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "bnctl")
	if err := seal(f, bytes); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// seal fixes the length of the file. Otherwise a side could shorten the file and so cause a fault in
// the other process.
func seal(f *os.File, bytes int) error {
	if err := f.Truncate(int64(bytes)); err != nil {
		return fmt.Errorf("shared memory: %w", err)
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return fmt.Errorf("shared memory: sealing: %w", err)
	}
	return nil
}

// Reserve allocates the memory of a segment. Otherwise, if the system runs out of memory, an
// access would cause a fault that kills the process.
func Reserve(f *os.File, bytes int) error {
	if err := unix.Fallocate(int(f.Fd()), 0, 0, int64(bytes)); err != nil {
		return fmt.Errorf("shared memory: %d MiB: %w", bytes>>20, err)
	}
	return nil
}

// Map maps a segment of that size. The file may be closed afterwards.
func Map(f *os.File, bytes int) ([]byte, error) {
	i, err := f.Stat()
	if err == nil && i.Size() != int64(bytes) {
		err = fmt.Errorf("file of %d bytes, want %d", i.Size(), bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("shared memory: mmap: %w", err)
	}
	return b, nil
}

// Unmap undoes Map. Connections over b must no longer be used.
func Unmap(b []byte) error { return unix.Munmap(b) }

// drop frees the memory of a segment. Its bytes are zeros afterwards.
func drop(f *os.File, bytes int) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, int64(bytes))
}
