package cpu

import "github.com/bnctl/bnctl/plugins/cpu/internal/kernel"

// worker is a thread of execution with memory of its own, whose contents mean
// nothing between tasks.
type worker struct {
	index     int
	tile      kernel.Scratch
	matrix    kernel.MatrixScratch
	room      []float32
	wide      []float64
	half      []uint16
	views     [5][]float32 // of operands
	halfViews [5][]uint16
	// own is what else convolutions keep from task to task.
	own any
}

// floats returns n values of the worker's own memory, not cleared.
func (w *worker) floats(n int) []float32 {
	if len(w.room) < n {
		w.room = make([]float32, n)
	}
	return w.room[:n]
}

// doubles returns n values of the worker's own memory, not cleared.
func (w *worker) doubles(n int) []float64 {
	if len(w.wide) < n {
		w.wide = make([]float64, n)
	}
	return w.wide[:n]
}

// halves returns n bfloat16 of the worker's own memory, not cleared.
func (w *worker) halves(n int) []uint16 {
	if len(w.half) < n {
		w.half = make([]uint16, n)
	}
	return w.half[:n]
}
