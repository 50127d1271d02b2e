package convolution

import (
	"unsafe"

	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Packages below know no tiles and segments, so a worker keeps them as Own, of any type.

// scratch is the memory for convolutions that a worker keeps between tasks, so that a step
// allocates nothing.
type scratch struct {
	tiles tiles
	// segments are added together by a gradient by pairs; calls are the lines of a call.
	segments []segment
	calls    [][2]int32
}

// scratchOf returns the scratch of a worker.
func scratchOf(w *run.Worker) *scratch {
	s, ok := w.Local.(*scratch)
	if !ok {
		s = &scratch{}
		w.Local = s
	}
	return s
}

// MemoryBytes returns the size of s and of the memory that only s uses.
func (s *scratch) MemoryBytes() int {
	return int(unsafe.Sizeof(*s)) + cap(s.segments)*int(unsafe.Sizeof(segment{})) + 8*cap(s.calls) +
		8*cap(s.tiles.suspects) + 4*(cap(s.tiles.sums)+cap(s.tiles.most))
}
