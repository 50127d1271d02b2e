package workers

import "github.com/bnctl/bnctl/plugins/cpu/internal/kernel"

// Worker is a thread of execution with memory of its own, whose contents mean
// nothing between tasks.
type Worker struct {
	Index     int
	Tile      kernel.Scratch
	Matrix    kernel.MatrixScratch
	Sums      kernel.SumRoom
	room      []float32
	wide      []float64
	parts     []float64
	half      []uint16
	Views     [5][]float32 // of operands
	HalfViews [5][]uint16
	// Own is what else convolutions keep from task to task.
	Own any
}

// Floats returns n values of the worker's own memory, not cleared.
func (w *Worker) Floats(n int) []float32 {
	if len(w.room) < n {
		w.room = make([]float32, n)
	}
	return w.room[:n]
}

// Doubles returns n values of the worker's own memory, not cleared.
func (w *Worker) Doubles(n int) []float64 {
	if len(w.wide) < n {
		w.wide = make([]float64, n)
	}
	return w.wide[:n]
}

// Parts returns n values, others than Doubles, not cleared.
func (w *Worker) Parts(n int) []float64 {
	if len(w.parts) < n {
		w.parts = make([]float64, n)
	}
	return w.parts[:n]
}

// Halves returns n bfloat16 of the worker's own memory, not cleared.
func (w *Worker) Halves(n int) []uint16 {
	if len(w.half) < n {
		w.half = make([]uint16, n)
	}
	return w.half[:n]
}
