package workers

import (
	"unsafe"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// Worker is a thread of execution with private memory. The contents of the memory are
// undefined between tasks.
type Worker struct {
	Index     int
	Tile      kernel.Workspace
	Matrix    kernel.MatrixWorkspace
	Int8      kernel.Int8Workspace
	Sums      kernel.SumWorkspace
	floats    []float32
	unpacked  []float32
	doubles   []float64
	partials  []float64
	half      []uint16
	bytes     []byte
	integers  []int32
	Views     [5][]float32 // views of operands
	HalfViews [5][]uint16
	// Local has other values that convolutions keep from task to task.
	Local any
}

// Floats returns n float32 of the worker's private memory. They are not cleared.
func (w *Worker) Floats(n int) []float32 {
	if len(w.floats) < n {
		w.floats = make([]float32, n)
	}
	return w.floats[:n]
}

// Unpacked returns n float32 in other memory than Floats. They are not cleared.
func (w *Worker) Unpacked(n int) []float32 {
	if len(w.unpacked) < n {
		w.unpacked = make([]float32, n)
	}
	return w.unpacked[:n]
}

// Doubles returns n float64 of the worker's private memory. They are not cleared.
func (w *Worker) Doubles(n int) []float64 {
	if len(w.doubles) < n {
		w.doubles = make([]float64, n)
	}
	return w.doubles[:n]
}

// Partials returns n float64 in other memory than Doubles. They are not cleared.
func (w *Worker) Partials(n int) []float64 {
	if len(w.partials) < n {
		w.partials = make([]float64, n)
	}
	return w.partials[:n]
}

// Halves returns n bfloat16 values of the worker's private memory. They are not cleared.
func (w *Worker) Halves(n int) []uint16 {
	if len(w.half) < n {
		w.half = make([]uint16, n)
	}
	return w.half[:n]
}

// Bytes returns n bytes of the worker's private memory, not cleared.
func (w *Worker) Bytes(n int) []byte {
	if len(w.bytes) < n {
		w.bytes = make([]byte, n)
	}
	return w.bytes[:n]
}

// Integers returns n values of the worker's private memory, not cleared.
func (w *Worker) Integers(n int) []int32 {
	if len(w.integers) < n {
		w.integers = make([]int32, n)
	}
	return w.integers[:n]
}

// MemoryBytes returns the size of the worker's private memory. It must not be called while a task runs.
func (w *Worker) MemoryBytes() int {
	n := int(unsafe.Sizeof(*w)) + 4*(len(w.floats)+len(w.unpacked)+len(w.integers)) +
		8*(len(w.doubles)+len(w.partials)) + 2*len(w.half) + len(w.bytes)
	n += w.Tile.MemoryBytes() + w.Matrix.MemoryBytes() + w.Int8.MemoryBytes() + w.Sums.MemoryBytes()
	if l, ok := w.Local.(interface{ MemoryBytes() int }); ok {
		n += l.MemoryBytes()
	}
	return n
}
