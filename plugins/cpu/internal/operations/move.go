package operations

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
	"github.com/bnctl/bnctl/tensor"
)

// region is a set of elements of a unit of a value: the element at first, and those at multiples of the
// strides from there. Along each axis the multiples are below shape.
type region struct {
	first   int
	strides []int
}

// all returns the region of all elements of a value.
func all(v *run.Value) region { return region{0, v.Strides()} }

// slice returns the region of every step-th element of r, from begin on, along each axis.
func (r region) slice(begin, step []int) region {
	p := region{r.first, slices.Clone(r.strides)}
	for axis, n := range step {
		p.first += begin[axis] * r.strides[axis]
		p.strides[axis] *= n
	}
	return p
}

// move copies a region of each unit of x to a region of the same unit of y.
type move struct {
	x, y  *run.Value
	shape []int
	src   region
	dst   region
	fill  bool // all of y is first set to value
	value float64
}

// action returns the action of the move. Elements of four bytes are moved as contiguous
// runs.
func (m *move) action() run.Action {
	copyUnit := moveUnit[uint8]
	switch m.y.DType.Size() {
	case 2:
		copyUnit = moveUnit[uint16]
	case 4:
		return run.ByUnit(m.y.Kind, m.byRuns())
	case 8:
		copyUnit = moveUnit[uint64]
	}
	return run.ByUnit(m.y.Kind, &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		dst := f.Unit(m.y, w, m.y.Kind, i)
		if m.fill {
			m.setAll(dst)
		}
		copyUnit(m, dst, f.Unit(m.x, w, m.y.Kind, i))
	}})
}

// moveUnit moves one unit. T has the size of an element.
func moveUnit[T uint8 | uint16 | uint64](m *move, dst, src []byte) {
	copyElements(m.loops(), layout.View[T](dst)[m.dst.first:], layout.View[T](src)[m.src.first:])
}

// copyElements copies the elements that loops visit, in runs.
func copyElements[T uint8 | uint16 | uint64](loops []axis, dst, src []T) {
	first := loops[0]
	switch {
	case len(loops) > 1:
		for k := range first.n {
			copyElements(loops[1:], dst[k*first.to:], src[k*first.from:])
		}
	case first.to == 1 && first.from == 1:
		copy(dst[:first.n], src)
	default:
		for k := range first.n {
			dst[k*first.to] = src[k*first.from]
		}
	}
}

// setAll sets all elements of a unit of y to value.
func (m *move) setAll(unit []byte) {
	switch {
	case math.Float64bits(m.value) == 0:
		clear(unit)
	case m.y.DType == tensor.U8:
		fill(unit, uint8(m.value))
	case m.y.DType == tensor.F64:
		fill(layout.View[float64](unit), m.value)
	default:
		fill(layout.View[float32](unit), float32(m.value))
	}
}

func fill[T float32 | float64 | uint8](x []T, v T) {
	for i := range x {
		x[i] = v
	}
}

// axis is one loop of a move.
type axis struct{ n, to, from int }

// byRuns returns the action for elements of four bytes. A row can be cut along the outermost loop. If every
// position is moved to the same position, the action can also compute spans.
func (m *move) byRuns() *run.ByRows {
	loops := m.loops()
	words := func(f *run.Frame, w *run.Worker, i int) (dst, src []uint32) {
		return layout.View[uint32](f.Unit(m.y, w, m.y.Kind, i))[m.dst.first:],
			layout.View[uint32](f.Unit(m.x, w, m.y.Kind, i))[m.src.first:]
	}
	a := &run.ByRows{Work: tensor.Count(m.shape) / 8}
	a.Row = func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		if m.fill {
			m.setAll(f.Unit(m.y, w, m.y.Kind, i))
		}
		dst, src := words(f, w, i)
		first := loops[0]
		from, to := schedule.RangeOf(piece, pieces, first.n)
		first.n = to - from
		copyLoops(append([]axis{first}, loops[1:]...), dst[min(from*first.to, len(dst)):],
			src[min(from*first.from, len(src)):])
	}
	if m.fill {
		a.Work = 0
	}
	n, step := m.channels()
	if n == 0 {
		return a
	}
	y, x := m.y.Channels, m.x.Channels
	a.Span = func(f *run.Frame, w *run.Worker, i, from, to int) {
		dst, src := words(f, w, i)
		kernel.CopyRuns(dst[from*y:], src[from*x:], n, to-from, y, x)
	}
	a.Positions, a.Step, a.Width, a.Pointwise = m.y.Positions, 1, n, true
	if step > 1 {
		a.Span = func(f *run.Frame, w *run.Worker, i, from, to int) {
			dst := layout.View[float32](f.Unit(m.y, w, m.y.Kind, i))[m.dst.first+from*y:]
			src := layout.View[float32](f.Unit(m.x, w, m.y.Kind, i))[m.src.first+from*x:]
			f.Kernels.Every(kernel.Pixels{Values: dst, Step: y}, kernel.Pixels{Values: src, Step: x}, step, n, to-from)
		}
		return run.BySpan(a)
	}
	return a
}

// channels returns the number of channels of every position that the move copies to the
// same position of y, and their distance in x. It returns 0 if the move does anything else.
func (m *move) channels() (n, step int) {
	if m.fill || !m.x.Last || !m.y.Last || m.x.Positions != m.y.Positions || m.y.Positions == 0 ||
		m.src.first >= m.x.Channels || m.dst.first >= m.y.Channels {
		return 0, 0
	}
	loops := m.loops()
	n, step = tensor.Count(m.shape)/m.y.Positions, 1
	if inner := loops[len(loops)-1]; n > 1 && inner.to == 1 && inner.from > 0 && m.y.DType == tensor.F32 {
		step = inner.from
	}
	pixels := []axis{{m.y.Positions, m.y.Channels, m.x.Channels}, {n, 1, step}}
	if !slices.Equal(loops, joined(pixels)) {
		return 0, 0
	}
	return n, step
}

// loops returns the loops of the move, at least one.
func (m *move) loops() []axis {
	var loops []axis
	for i, n := range m.shape {
		loops = append(loops, axis{n, m.dst.strides[i], m.src.strides[i]})
	}
	return joined(loops)
}

// joined sorts loops by their step in y, so that the last loop has the smallest one. If one loop continues
// where the next one ends, it merges the two.
func joined(loops []axis) []axis {
	loops = slices.DeleteFunc(loops, func(a axis) bool { return a.n == 1 })
	slices.SortStableFunc(loops, func(a, b axis) int { return b.to - a.to })
	for i := len(loops) - 2; i >= 0; i-- {
		outer, inner := loops[i], loops[i+1]
		if outer.to == inner.n*inner.to && outer.from == inner.n*inner.from {
			loops[i] = axis{outer.n * inner.n, inner.to, inner.from}
			loops = slices.Delete(loops, i+1, i+2)
		}
	}
	if len(loops) == 0 {
		return []axis{{1, 1, 1}}
	}
	return loops
}

// copyLoops copies the elements that loops visit.
func copyLoops(loops []axis, dst, src []uint32) {
	inner := loops[len(loops)-1]
	switch runs := inner.to == 1 && inner.from == 1; {
	case len(loops) == 1 && runs:
		kernel.CopyRuns(dst, src, inner.n, 1, inner.n, inner.n)
	case len(loops) == 1:
		for k := range inner.n {
			dst[k*inner.to] = src[k*inner.from]
		}
	case len(loops) == 2 && runs && loops[0].to >= inner.n:
		kernel.CopyRuns(dst, src, inner.n, loops[0].n, loops[0].to, loops[0].from)
	default:
		for k := range loops[0].n {
			copyLoops(loops[1:], dst[k*loops[0].to:], src[k*loops[0].from:])
		}
	}
}
