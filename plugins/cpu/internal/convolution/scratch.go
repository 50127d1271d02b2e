package convolution

import (
	"unsafe"

	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Packages workers and run do not know the types of tiles and segments. A worker therefore keeps a
// scratch in its field Local, which may have any type.

// scratch is the memory for convolutions that a worker keeps between tasks, so that a step
// allocates nothing.
type scratch struct {
	tiles tiles
	// segments are the segments that a gradient by pairs processes together; calls are the lines of one call.
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
		8*cap(s.tiles.suspects) + 4*(cap(s.tiles.sums)+cap(s.tiles.largest))
}
