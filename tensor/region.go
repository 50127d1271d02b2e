package tensor

import (
	"slices"
	"unsafe"
)

// Region is memory for tensors that other processes of the user can map like files, so that weights
// written to a device of this machine are stored only once. Small tensors use the heap, and so do
// all tensors on systems without such memory. The zero value is empty, and nil is the heap. A
// Region must not be used by several goroutines at once.
type Region struct {
	files     []*Mapped
	free      []byte   // unused bytes of the last file
	allocated [][]byte // memory that New has returned
}

const (
	leastInRegion = 64 << 10  // bytes; smaller tensors are not worth whole pages
	fileOfRegion  = 256 << 20 // minimum bytes of a file; pages that are not written need no memory
	pageOfRegion  = 4 << 10
)

// New does the same as the function New, with memory of r.
func (r *Region) New(d DType, shape ...int) Tensor {
	n, err := Size(d, shape)
	if err == nil && r != nil && n >= leastInRegion {
		if b := r.take(n); b != nil {
			return Tensor{DType: d, Shape: slices.Clone(shape), Bytes: b}
		}
	}
	return New(d, shape...)
}

// take returns n zeros, or nil if the system has no such memory.
func (r *Region) take(n int) []byte {
	whole := (n + pageOfRegion - 1) &^ (pageOfRegion - 1)
	if whole > len(r.free) {
		m := newRegionFile(max(whole, fileOfRegion))
		if m == nil {
			return nil
		}
		m.references = 1
		mappings.Lock()
		mappings.all = append(mappings.all, m)
		mappings.Unlock()
		r.files, r.free = append(r.files, m), m.Bytes
	}
	b := r.free[:n:n]
	r.free, r.allocated = r.free[whole:], append(r.allocated, b)
	return b
}

// Adopt moves all large tensors that are not in a file into r, and frees the memory of tensors that
// are no longer in tensors.
func (r *Region) Adopt(tensors map[string]Tensor) {
	moved := map[*byte]Tensor{}
	for name, t := range tensors {
		if file, _ := MappedAt(t.Bytes); file != nil || len(t.Bytes) < leastInRegion {
			continue
		}
		at := unsafe.SliceData(t.Bytes)
		to, ok := moved[at]
		if !ok || len(to.Bytes) != len(t.Bytes) {
			to = r.New(U8, len(t.Bytes))
			copy(to.Bytes, t.Bytes)
			moved[at] = to
		}
		t.Bytes = to.Bytes
		tensors[name] = t
	}
	r.allocated = slices.DeleteFunc(r.allocated, func(b []byte) bool {
		for _, t := range tensors {
			if overlap(b, t.Bytes) {
				return false
			}
		}
		giveBack(r.files, b)
		return true
	})
}

// overlap reports whether a and b have bytes in common.
func overlap(a, b []byte) bool {
	p, q := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return p < q+uintptr(len(b)) && q < p+uintptr(len(a))
}

// Close releases the memory. A caller that uses the tensors later must have retained it.
func (r *Region) Close() {
	for _, m := range r.files {
		_ = m.Close() // only returning the memory can fail
	}
	*r = Region{}
}
