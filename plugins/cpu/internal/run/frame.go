package run

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
	"github.com/bnctl/bnctl/tensor"
)

// Frame is one run of a function. Actions read its exported fields, which do not change
// after Start.
type Frame struct {
	Kernels  *kernel.Set
	Schedule schedule.Schedule
	Rows     []int // number of rows of each replica of this device
	Starts   []int // first row of each replica, then the number of all rows
	Last     bool  // this is probably the last run

	machine *Machine
	memory  *arena.Memory
	ctx     context.Context
	inputs  []tensor.Tensor
	areas   arena.Areas
	profile profile // nil unless the step requested a profile

	onto  map[*Value][]tensor.Tensor // existing sums that gradients are added to
	added map[*Value]bool            // values in onto that actions have added, or are adding

	number   uint64                   // number of the step, which is a part of the tags of messages
	sequence [collective.Lanes]uint64 // number of exchanges so far, by lane
	waiting  func() error             // waits for the exchange of moments in progress; may be nil
	pending  []func() error           // exchanges of gradients that are in progress
	blocked  time.Duration

	backwards bool // whether the next group visits the rows in descending order
	infinite  atomic.Bool

	mu     sync.Mutex
	err    error // error of the lowest row that has one
	errRow int
}

// FailRow records an error of a row. If several rows have errors, the error of the lowest row is reported.
func (f *Frame) FailRow(row int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || row < f.errRow {
		f.err, f.errRow = err, row
	}
}

// NotFinite records that an update of the state has an element that is infinite or NaN.
func (f *Frame) NotFinite() { f.infinite.Store(true) }

// BF16 reports whether the precision is device.BF16.
func (f *Frame) BF16() bool { return f.machine.Reduced }

// Passing returns memory for n packed weights, with arbitrary contents. The next call overwrites it.
func (f *Frame) Passing(n int) []float32 { return f.memory.Passing(n) }

// Total returns the number of rows of all replicas.
func (f *Frame) Total() int { return f.Starts[len(f.Rows)] }

// Units returns the number of units of a kind in the run.
func (f *Frame) Units(k graph.Kind) int {
	switch k {
	case graph.Rows:
		return f.Total()
	case graph.Replica:
		return len(f.Rows)
	}
	return 1
}

// Bytes returns the memory of all units of a value.
func (f *Frame) Bytes(v *Value) []byte {
	switch {
	case v.joined != nil:
		return f.Bytes(v.joined)[v.first*v.width():]
	case v.state != nil:
		return v.state.Value.Bytes
	case v.slot == nil:
		return f.inputs[v.input].Bytes
	}
	return f.areas.At(v.slot)[:v.size()*f.Units(v.Kind)]
}

// Unit returns the unit of v that is needed for unit i of kind k: the same row, the replica of a row, or
// the whole. If v is a half, it returns the elements as float32. w is the calling worker.
func (f *Frame) Unit(v *Value, w *Worker, k graph.Kind, i int) []byte {
	if v.half {
		v = v.float
	}
	return f.unitOf(v, w, k, i)
}

// unitOf returns the unit of v for unit i of kind k, as it is stored.
func (f *Frame) unitOf(v *Value, w *Worker, k graph.Kind, i int) []byte {
	switch {
	case v.joined != nil:
		return f.unitOf(v.joined, w, k, i)[v.first*v.width():]
	case v.Kind == graph.Whole:
		return f.Bytes(v)
	case v.local:
		lane := w.Index
		if f.Few() && !v.private {
			lane = i
		}
		return f.memory.Lane(lane, v.slot)[:v.storedBytes()]
	case v.Kind != k:
		i = f.Replica(i)
	}
	return f.Bytes(v)[i*v.size() : (i+1)*v.size()]
}

// At returns the float32 elements of v that belong to row i.
func (f *Frame) At(v *Value, w *Worker, i int) []float32 {
	return layout.View[float32](f.Unit(v, w, graph.Rows, i))
}

// Half returns the bfloat16 elements of v, which is a half, that belong to row i.
func (f *Frame) Half(v *Value, w *Worker, i int) []uint16 {
	return layout.View[uint16](f.unitOf(v, w, graph.Rows, i))
}

// Temp returns n elements of temporary memory, which slot s reserves.
func Temp[T tensor.Element](f *Frame, s *arena.Slot, n int) []T {
	return layout.View[T](f.areas.At(s))[:n:n]
}

// Each runs tasks on all workers of the device.
func (f *Frame) Each(tasks int, do func(w *Worker, task int)) { f.machine.Pool.Each(tasks, do) }

// eachRow calls do for every row. A worker gets adjacent rows if possible.
func (f *Frame) eachRow(do func(w *Worker, row int)) { f.Each(f.Total(), do) }

// Replica returns the index of the replica that a row belongs to.
func (f *Frame) Replica(row int) int {
	r := 0
	for row >= f.Starts[r+1] {
		r++
	}
	return r
}

// Threads returns the number of workers.
func (f *Frame) Threads() int { return len(f.machine.Pool.Workers) }

// EachSpan divides n elements into ranges and calls do for each range, on all workers.
func (f *Frame) EachSpan(n int, do func(w *Worker, from, to int)) {
	ranges := max(1, min(4*f.Threads(), n/f.Schedule.Range))
	f.Each(ranges, func(w *Worker, i int) {
		from, to := schedule.Span(i, ranges, n)
		do(w, from, to)
	})
}
