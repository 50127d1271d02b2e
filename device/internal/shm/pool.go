package shm

import (
	"fmt"
	"os"
	"sync"
	"unsafe"
)

// Pool is memory that several processes map, so that bytes written by one process need not be copied
// for the others. One process allocates chunks. It sends the offset of a chunk to the other processes
// when they may access the chunk.
type Pool struct {
	file   *os.File
	memory []byte

	mu        sync.Mutex
	allocated []extent // by increasing offset
	reserved  int      // number of bytes, from the start, that have allocated memory
}

// extent is an allocated chunk: the bytes [from, to).
type extent struct{ from, to int }

const (
	// PoolBytes is the length of a pool. It uses memory only up to the end of its last
	// chunk.
	PoolBytes = 1 << 30
	// unit is the size of a page. Chunks begin and end at pages.
	unit = 4 << 10
	// reserveBytes is the number of bytes that are reserved at a time.
	reserveBytes = 4 << 20
)

// NewPool creates a pool. Children of this process find it at Path.
func NewPool() (*Pool, error) {
	f, err := New(PoolBytes)
	if err != nil {
		return nil, err
	}
	return mapPool(f)
}

// OpenPool maps the pool of another process.
func OpenPool(path string) (*Pool, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	return mapPool(f)
}

func mapPool(f *os.File) (*Pool, error) {
	b, err := Map(f, PoolBytes)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Pool{file: f, memory: b}, nil
}

// Path returns the path of the pool for children of this process. It is valid until Close.
func (p *Pool) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), p.file.Fd()) }

// Alloc returns the first free chunk of n bytes, or nil if there is no free chunk or not
// enough memory. Its content is undefined.
func (p *Pool) Alloc(n int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n <= 0 || n > PoolBytes {
		return nil
	}
	i, from := p.gap(n)
	to := from + (n+unit-1)&^(unit-1)
	if to > PoolBytes || !p.reserve(to) {
		return nil
	}
	p.allocated = append(p.allocated, extent{})
	copy(p.allocated[i+1:], p.allocated[i:])
	p.allocated[i] = extent{from, to}
	return p.memory[from : from+n : from+n]
}

// gap returns the lowest offset with n free bytes, and the index of the chunk after this gap (next).
func (p *Pool) gap(n int) (next, offset int) {
	for i, s := range p.allocated {
		if s.from-offset >= n {
			return i, offset
		}
		offset = s.to
	}
	return len(p.allocated), offset
}

// reserve allocates memory up to the offset end. Otherwise, if the system runs out of memory, an access
// would cause a fault that kills the process.
func (p *Pool) reserve(end int) bool {
	if end <= p.reserved {
		return true
	}
	end = min((end+reserveBytes-1)&^(reserveBytes-1), PoolBytes)
	if Reserve(p.file, end) != nil {
		return false
	}
	p.reserved = end
	return true
}

// Free frees the chunk that begins at an offset, if there is one.
func (p *Pool) Free(offset int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, s := range p.allocated {
		if s.from == offset {
			p.allocated = append(p.allocated[:i], p.allocated[i+1:]...)
			return
		}
	}
}

// Reset frees all chunks.
func (p *Pool) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allocated = nil
}

// At returns the n bytes at an offset that another process sent. It returns false if they are not
// all in the pool.
func (p *Pool) At(offset, n int64) ([]byte, bool) {
	if offset < 0 || n < 0 || offset > PoolBytes || n > PoolBytes-offset {
		return nil, false
	}
	return p.memory[offset : offset+n : offset+n], true
}

// Offset returns the offset of b in the pool, or false if b is not in the pool.
func (p *Pool) Offset(b []byte) (int, bool) {
	if len(b) == 0 {
		return 0, false
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(p.memory)))
	return int(at), at < PoolBytes
}

// Close closes the file of the pool. The pool stays mapped because a chunk may still be in use: a
// device that has abandoned an exchange does not report when it is done.
func (p *Pool) Close() error { return p.file.Close() }

// Drop does the same as Close for a pool with contents that are not needed any more. It also frees the
// memory. From now on reads return zeros.
func (p *Pool) Drop() error {
	err := drop(p.file, PoolBytes)
	if e := p.Close(); err == nil {
		err = e
	}
	return err
}
