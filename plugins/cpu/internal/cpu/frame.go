package cpu

import (
	"context"
	"sync"
	"time"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// frame is one run of a function.
type frame struct {
	*machine
	*memory
	ctx    context.Context
	rows   []int // of each replica held
	starts []int // first row of each replica, then the number of all rows
	inputs []tensor.Tensor

	profile profile // nil unless it was asked for

	number   uint64                   // of the step, for tags
	sequence [collective.Lanes]uint64 // counts the exchanges
	waiting  func() error             // for the exchange of moments that is under way; nil without
	pending  []func() error           // exchanges of gradients that are under way
	blocked  time.Duration

	backwards bool // the direction in which the next group goes through the rows

	mu     sync.Mutex
	err    error // of the first row that has one
	errRow int
}

// failRow records an error of a row: that of the first row counts.
func (f *frame) failRow(row int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || row < f.errRow {
		f.err, f.errRow = err, row
	}
}

// start prepares a frame for a function and the given rows.
func (m *memory) start(ctx context.Context, on *machine, rows []int, inputs []tensor.Tensor) *frame {
	m.fillBlank()
	f := &frame{machine: on, memory: m, ctx: ctx, rows: rows, inputs: inputs, starts: make([]int, len(rows)+1)}
	for r, n := range rows {
		f.starts[r+1] = f.starts[r] + n
	}
	return f
}

// total returns the number of rows of all replicas.
func (f *frame) total() int { return f.starts[len(f.rows)] }

// units returns how many units of a kind the run has.
func (f *frame) units(k graph.Kind) int {
	switch k {
	case graph.Rows:
		return f.total()
	case graph.Replica:
		return len(f.rows)
	}
	return 1
}

// bytes returns the memory of a value, all its units.
func (f *frame) bytes(v *value) []byte {
	switch {
	case v.state != nil:
		return v.state.value.Bytes
	case v.slot == nil:
		return f.inputs[v.input].Bytes
	}
	return f.arena[v.slot.offset:][:v.size()*f.units(v.Kind)]
}

// unit returns the unit of v that goes with unit i of kind k: the same row, the
// replica of a row, or the whole; of a half its wide. w is the worker that asks.
func (f *frame) unit(v *value, w *worker, k graph.Kind, i int) []byte {
	if v.half {
		v = v.wide
	}
	return f.place(v, w, k, i)
}

// place returns the unit of v that goes with unit i of kind k as it is stored.
func (f *frame) place(v *value, w *worker, k graph.Kind, i int) []byte {
	switch {
	case v.Kind == graph.Whole:
		return f.bytes(v)
	case v.local:
		lane := w.index
		if f.few() && !v.own {
			lane = i
		}
		return f.arena[f.lanes+lane*f.lane+v.slot.offset:][:v.held()]
	case v.Kind != k:
		i = f.replica(i)
	}
	return f.bytes(v)[i*v.size() : (i+1)*v.size()]
}

// at returns the float32 of v that go with row i.
func (f *frame) at(v *value, w *worker, i int) []float32 {
	return of[float32](f.unit(v, w, graph.Rows, i))
}

// half returns the elements of a half that go with row i.
func (f *frame) half(v *value, w *worker, i int) []uint16 {
	return of[uint16](f.place(v, w, graph.Rows, i))
}

// temp returns temporary memory for n elements of a slot.
func temp[T tensor.Element](f *frame, s *slot, n int) []T {
	return of[T](f.arena[s.offset:])[:n:n]
}

// each runs tasks on the workers of the device.
func (f *frame) each(tasks int, do func(w *worker, task int)) { f.pool.each(tasks, do) }

// eachRow runs do for every row, in runs of rows that lie side by side.
func (f *frame) eachRow(do func(w *worker, row int)) { f.each(f.total(), do) }

// replica returns the replica of a row.
func (f *frame) replica(row int) int {
	r := 0
	for row >= f.starts[r+1] {
		r++
	}
	return r
}

// threads returns the number of workers.
func (f *frame) threads() int { return len(f.pool.workers) }

// span returns part i of n elements cut into so many parts, in whole cache lines.
func span(i, parts, n int) (from, to int) {
	const line = 16
	lines := (n + line - 1) / line
	return min(lines*i/parts*line, n), min(lines*(i+1)/parts*line, n)
}

// eachSpan cuts n elements into parts of a useful size and runs do on them.
func (f *frame) eachSpan(n int, do func(w *worker, from, to int)) {
	const least = 4096 // elements that are worth waking a worker
	parts := max(1, min(4*f.threads(), n/least))
	f.each(parts, func(w *worker, i int) {
		from, to := span(i, parts, n)
		do(w, from, to)
	})
}
