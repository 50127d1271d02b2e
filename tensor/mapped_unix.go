//go:build unix

package tensor

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"github.com/bnctl/bnctl/internal/regular"
)

// mapFile maps a file and keeps it open, so that Mapped.Path names this file even if its name is given to
// another file.
func mapFile(path string) (*Mapped, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	m := &Mapped{file: f}
	if err := m.mapAll(); err != nil {
		f.Close()
		return nil, err
	}
	return m, nil
}

func (m *Mapped) mapAll() (err error) {
	m.info, err = m.file.Stat()
	switch {
	case err != nil:
		return err
	case m.info.Size() == 0:
		return nil
	case m.info.Size() > math.MaxInt:
		return fmt.Errorf("%s: %d bytes are more than this machine can map", m.file.Name(), m.info.Size())
	}
	m.Bytes, err = unix.Mmap(int(m.file.Fd()), 0, int(m.info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("%s: mapping %d bytes: %w", m.file.Name(), m.info.Size(), err)
	}
	return nil
}

func (m *Mapped) release() error {
	defer m.file.Close()
	if m.Bytes == nil {
		return nil
	}
	return unix.Munmap(m.Bytes)
}

// DropPages releases the pages of b, a view of the file, in this process. Reading b again reads
// them from the file.
func (m *Mapped) DropPages(b []byte) {
	at, ok := m.offset(b)
	if !ok || len(b) == 0 {
		return
	}
	page := int64(os.Getpagesize())
	_ = unix.Madvise(m.Bytes[at/page*page:at+int64(len(b))], unix.MADV_DONTNEED) // a failure keeps the pages
}
