package tensor

import (
	"sync"
	"unsafe"
)

// immutable counts how often memory was marked, by where it begins.
var immutable struct {
	sync.RWMutex
	times map[*byte]int
}

// MarkImmutable says that nobody writes to the elements of tensors until end is called: code
// that would copy them may keep them instead, and must not write to them either. A
// tensor that is not aligned as New aligns it is not marked.
func MarkImmutable(tensors map[string]Tensor) (end func()) {
	var begins []*byte
	for _, t := range tensors {
		if begin := unsafe.SliceData(t.Bytes); len(t.Bytes) > 0 && uintptr(unsafe.Pointer(begin))%Alignment == 0 {
			begins = append(begins, begin)
		}
	}
	count(begins, 1)
	return sync.OnceFunc(func() { count(begins, -1) })
}

func count(begins []*byte, by int) {
	immutable.Lock()
	defer immutable.Unlock()
	if immutable.times == nil {
		immutable.times = map[*byte]int{}
	}
	for _, b := range begins {
		if immutable.times[b] += by; immutable.times[b] == 0 {
			delete(immutable.times, b)
		}
	}
}

// IsImmutable reports whether b begins memory that is marked.
func IsImmutable(b []byte) bool {
	immutable.RLock()
	defer immutable.RUnlock()
	return len(b) > 0 && immutable.times[unsafe.SliceData(b)] > 0
}
