package run

import (
	"context"
	"sync"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Frame is one run of a function.
type Frame struct {
	*Machine
	*Memory
	Ctx    context.Context
	Rows   []int // of each replica held
	Starts []int // first row of each replica, then the number of all rows
	inputs []tensor.Tensor

	Profile Profile // nil unless it was asked for

	Last     bool                     // no run follows, as far as anybody knows
	Number   uint64                   // of the step, for tags
	Sequence [collective.Lanes]uint64 // counts the exchanges
	Waiting  func() error             // for the exchange of moments that is under way; nil without
	Pending  []func() error           // exchanges of gradients that are under way
	Blocked  time.Duration

	backwards bool // the direction in which the next group goes through the rows

	mu     sync.Mutex
	err    error // of the first row that has one
	errRow int
}

// FailRow records an error of a row: that of the first row counts.
func (f *Frame) FailRow(row int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || row < f.errRow {
		f.err, f.errRow = err, row
	}
}

// Start prepares a frame for a function and the given rows.
func (m *Memory) Start(ctx context.Context, on *Machine, rows []int, inputs []tensor.Tensor) *Frame {
	m.fillBlank()
	f := &Frame{Machine: on, Memory: m, Ctx: ctx, Rows: rows, inputs: inputs, Starts: make([]int, len(rows)+1)}
	for r, n := range rows {
		f.Starts[r+1] = f.Starts[r] + n
	}
	return f
}

// Total returns the number of rows of all replicas.
func (f *Frame) Total() int { return f.Starts[len(f.Rows)] }

// Units returns how many units of a kind the run has.
func (f *Frame) Units(k graph.Kind) int {
	switch k {
	case graph.Rows:
		return f.Total()
	case graph.Replica:
		return len(f.Rows)
	}
	return 1
}

// Bytes returns the memory of a value, all its units.
func (f *Frame) Bytes(v *Value) []byte {
	switch {
	case v.State != nil:
		return v.State.Value.Bytes
	case v.Slot == nil:
		return f.inputs[v.Input].Bytes
	}
	return f.Arena[v.Slot.Offset:][:v.Size()*f.Units(v.Kind)]
}

// Unit returns the unit of v that goes with unit i of kind k: the same row, the
// replica of a row, or the whole; of a half its wide. w is the worker that asks.
func (f *Frame) Unit(v *Value, w *Worker, k graph.Kind, i int) []byte {
	if v.Half {
		v = v.wide
	}
	return f.place(v, w, k, i)
}

// place returns the unit of v that goes with unit i of kind k as it is stored.
func (f *Frame) place(v *Value, w *Worker, k graph.Kind, i int) []byte {
	switch {
	case v.Kind == graph.Whole:
		return f.Bytes(v)
	case v.Local:
		lane := w.Index
		if f.Few() && !v.Own {
			lane = i
		}
		return f.Arena[f.Lanes+lane*f.Lane+v.Slot.Offset:][:v.Held()]
	case v.Kind != k:
		i = f.Replica(i)
	}
	return f.Bytes(v)[i*v.Size() : (i+1)*v.Size()]
}

// At returns the float32 of v that go with row i.
func (f *Frame) At(v *Value, w *Worker, i int) []float32 {
	return View[float32](f.Unit(v, w, graph.Rows, i))
}

// Half returns the elements of a half that go with row i.
func (f *Frame) Half(v *Value, w *Worker, i int) []uint16 {
	return View[uint16](f.place(v, w, graph.Rows, i))
}

// Temp returns temporary memory for n elements of a slot.
func Temp[T tensor.Element](f *Frame, s *Slot, n int) []T {
	return View[T](f.Arena[s.Offset:])[:n:n]
}

// Each runs tasks on the workers of the device.
func (f *Frame) Each(tasks int, do func(w *Worker, task int)) { f.Pool.Each(tasks, do) }

// eachRow runs do for every row, in runs of rows that lie side by side.
func (f *Frame) eachRow(do func(w *Worker, row int)) { f.Each(f.Total(), do) }

// Replica returns the replica of a row.
func (f *Frame) Replica(row int) int {
	r := 0
	for row >= f.Starts[r+1] {
		r++
	}
	return r
}

// Threads returns the number of workers.
func (f *Frame) Threads() int { return len(f.Pool.Workers) }

// Span returns the range of part i of n elements that are divided into parts, in
// whole cache lines.
func Span(i, parts, n int) (from, to int) {
	const line = 16
	lines := (n + line - 1) / line
	return min(lines*i/parts*line, n), min(lines*(i+1)/parts*line, n)
}

// EachSpan cuts n elements into parts of a useful size and runs do on them.
func (f *Frame) EachSpan(n int, do func(w *Worker, from, to int)) {
	const least = 4096 // elements that are worth waking a worker
	parts := max(1, min(4*f.Threads(), n/least))
	f.Each(parts, func(w *Worker, i int) {
		from, to := Span(i, parts, n)
		do(w, from, to)
	})
}
