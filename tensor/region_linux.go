package tensor

import (
	"os"

	"golang.org/x/sys/unix"
)

// newRegionFile returns n zeros in a file without a name, or nil if the system has no such files.
func newRegionFile(n int) *Mapped {
	fd, err := unix.MemfdCreate("tensors", unix.MFD_CLOEXEC)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), "tensors")
	if err := f.Truncate(int64(n)); err != nil {
		f.Close()
		return nil
	}
	m := &Mapped{file: f}
	if m.info, err = f.Stat(); err == nil {
		m.Bytes, err = unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		f.Close()
		return nil
	}
	return m
}

// giveBack frees the pages of b, which is in one of files and begins at a page.
func giveBack(files []*Mapped, b []byte) {
	for _, m := range files {
		if at, ok := m.offset(b); ok {
			whole := int64(len(b)+pageOfRegion-1) &^ (pageOfRegion - 1)
			const hole = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
			_ = unix.Fallocate(int(m.file.Fd()), hole, at, whole) // if this fails, the pages stay in use
		}
	}
}
