package tensor

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"
)

// Mapped is a file mapped into memory, read-only. Tensors may be views of its bytes. A write to
// them ends the process. So does reading past the end of a file that was truncated meanwhile,
// unless debug.SetPanicOnFault is on.
type Mapped struct {
	Bytes      []byte
	file       *os.File    // nil if the bytes are a copy
	info       os.FileInfo // state of the file when it was mapped
	references int         // guarded by mappings
}

// mappings lists all mapped files, so that the file of a tensor can be found.
var mappings struct {
	sync.RWMutex
	all []*Mapped
}

// Map maps a regular file for reading. It stays mapped until Close. If the file is already mapped and has
// not changed since, Map returns the same Mapped and counts one more user.
func Map(path string) (*Mapped, error) {
	mappings.Lock()
	defer mappings.Unlock()
	for _, m := range mappings.all {
		if m.same(path) {
			m.references++
			return m, nil
		}
	}
	m, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	m.references = 1
	mappings.all = append(mappings.all, m)
	return m, nil
}

// MappedAt returns the mapped file that contains b, and the offset of b in it. It returns nil for other
// memory. A caller that stores b must call Retain.
func MappedAt(b []byte) (m *Mapped, offset int64) {
	if len(b) == 0 {
		return nil, 0
	}
	mappings.RLock()
	defer mappings.RUnlock()
	for _, m := range mappings.all {
		if at, ok := m.offset(b); ok && m.file != nil {
			return m, at
		}
	}
	return nil, 0
}

// offset returns the offset of b in m, and whether m contains b.
func (m *Mapped) offset(b []byte) (int64, bool) {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes)))
	size := uintptr(len(m.Bytes))
	return int64(at), at < size && uintptr(len(b)) <= size-at
}

// Path returns a path at which other processes of the user can open the same file, even if its name
// now refers to another file. It returns "" if there is no such path.
func (m *Mapped) Path() string {
	if m.file == nil || runtime.GOOS != "linux" {
		return ""
	}
	return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), m.file.Fd())
}

// same reports whether the file at path is the file of m and has not changed since it was mapped: device and
// inode, length and time of the last change are equal.
func (m *Mapped) same(path string) bool {
	if m.file == nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(m.info, now) && unchanged(m.info, now)
}

// Changed reports whether the file was written to since it was mapped.
func (m *Mapped) Changed() bool {
	if m.file == nil {
		return false
	}
	now, err := m.file.Stat()
	return err != nil || !unchanged(m.info, now)
}

func unchanged(a, b os.FileInfo) bool { return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) }

// Retain keeps the file mapped until one more Close.
func (m *Mapped) Retain() {
	mappings.Lock()
	defer mappings.Unlock()
	m.references++
}

// Close releases the file when Close was called as often as Map and Retain together. After that its
// bytes must not be touched.
func (m *Mapped) Close() error {
	mappings.Lock()
	defer mappings.Unlock()
	if m.references--; m.references > 0 {
		return nil
	}
	for i, o := range mappings.all {
		if o == m {
			mappings.all = append(mappings.all[:i], mappings.all[i+1:]...)
			return m.release()
		}
	}
	return nil // the file was closed before
}
