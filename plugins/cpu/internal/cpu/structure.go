package cpu

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// structureOps move elements and compute nothing.
var structureOps = map[graph.Op]func(c *compiler) action{
	graph.Concat:      buildConcat,
	graph.Slice:       buildSlice,
	graph.SliceGrad:   buildSliceGrad,
	graph.Pad:         buildPad,
	graph.Reshape:     buildReshape,
	graph.Transpose:   buildTranspose,
	graph.BroadcastTo: buildBroadcastTo,
}

// region is a set of elements of a unit of a value: those at from plus any
// multiple, below shape, of the strides.
type region struct {
	from    int
	strides []int
}

// all returns the region of all elements of a value.
func all(v *value) region { return region{0, v.strides()} }

// move copies one region of x to another of y, unit by unit.
type move struct {
	x, y  *value
	shape []int
	src   region
	dst   region
	fill  bool // set y to value first
	value float64
}

// action returns what does the move.
func (m *move) action() action {
	copyUnit := moveUnit[uint8]
	switch m.y.DType.Size() {
	case 2:
		copyUnit = moveUnit[uint16]
	case 4:
		copyUnit = moveUnit[uint32]
	case 8:
		copyUnit = moveUnit[uint64]
	}
	return byUnit(m.y.Kind, action{row: func(f *frame, w *worker, i, _, _ int) {
		dst := f.unit(m.y, w, m.y.Kind, i)
		if m.fill {
			m.setAll(dst)
		}
		copyUnit(m, dst, f.unit(m.x, w, m.y.Kind, i))
	}})
}

// moveUnit moves one unit; elements are words of their size.
func moveUnit[T uint8 | uint16 | uint32 | uint64](m *move, to, from []byte) {
	src, dst := of[T](from)[m.src.from:], of[T](to)[m.dst.from:]
	walk(m.shape, m.dst.strides, m.src.strides, nil, func(n, to, from, _, toStep, fromStep, _ int) {
		if toStep == 1 && fromStep == 1 {
			copy(dst[to:to+n], src[from:])
			return
		}
		for k := range n {
			dst[to+k*toStep] = src[from+k*fromStep]
		}
	})
}

// setAll sets all elements of a unit of y.
func (m *move) setAll(unit []byte) {
	switch {
	case math.Float64bits(m.value) == 0:
		clear(unit)
	case m.y.DType == tensor.F64:
		fill(of[float64](unit), m.value)
	default:
		fill(of[float32](unit), float32(m.value))
	}
}

func fill[T float32 | float64](x []T, v T) {
	for i := range x {
		x[i] = v
	}
}

func buildConcat(c *compiler) action {
	y, axis := c.out(0), c.node.Int("axis")
	var moves []action
	begin := 0
	for i := range c.node.In {
		x := c.in(i)
		dst := all(y)
		dst.from = begin * dst.strides[axis]
		moves = append(moves, (&move{x: x, y: y, shape: x.Shape, src: all(x), dst: dst}).action())
		begin += x.Shape[axis]
	}
	return sequence(moves)
}

// sequence returns the action that does several, all by rows or none.
func sequence(actions []action) action {
	if actions[0].row == nil {
		return whole(func(f *frame) error {
			for _, a := range actions {
				if err := a.once(f); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return action{row: func(f *frame, w *worker, i, _, _ int) {
		for _, a := range actions {
			a.row(f, w, i, 0, 1)
		}
	}}
}

// sliced returns the region of v that the current node slices.
func (c *compiler) sliced(v *value) region {
	r := all(v)
	for axis, step := range c.node.SliceStep() {
		r.from += c.node.Ints("begin")[axis] * r.strides[axis]
		r.strides[axis] *= step
	}
	return r
}

func buildSlice(c *compiler) action {
	x, y := c.in(0), c.out(0)
	return (&move{x: x, y: y, shape: y.Shape, src: c.sliced(x), dst: all(y)}).action()
}

func buildSliceGrad(c *compiler) action {
	dy, dx := c.in(0), c.out(0)
	return (&move{x: dy, y: dx, shape: dy.Shape, src: all(dy), dst: c.sliced(dx), fill: true}).action()
}

func buildPad(c *compiler) action {
	x, y := c.in(0), c.out(0)
	dst := all(y)
	for axis, n := range c.node.Ints("before") {
		dst.from += n * dst.strides[axis]
	}
	m := &move{x: x, y: y, shape: x.Shape, src: all(x), dst: dst, fill: true, value: c.node.Float("value")}
	return m.action()
}

func buildTranspose(c *compiler) action {
	x, y := c.in(0), c.out(0)
	from := x.strides()
	src := region{strides: make([]int, len(from))}
	for i, axis := range c.node.Ints("perm") {
		src.strides[i] = from[axis]
	}
	return (&move{x: x, y: y, shape: y.Shape, src: src, dst: all(y)}).action()
}

func buildBroadcastTo(c *compiler) action {
	x, y := c.in(0), c.out(0)
	return (&move{x: x, y: y, shape: y.Shape, src: region{strides: broadcast(x, y.Shape)}, dst: all(y)}).action()
}

// broadcast returns the strides by which v is read as if it had this shape.
func broadcast(v *value, shape []int) []int {
	own, out := v.strides(), make([]int, len(shape))
	for i, n := range v.Shape {
		if n > 1 {
			out[len(shape)-len(own)+i] = own[i]
		}
	}
	return out
}

// buildReshape copies in logical order: a value that lies in that order is
// read as if it had the other's shape. Where neither does, a row goes through
// temporary memory.
func buildReshape(c *compiler) action {
	x, y := c.in(0), c.out(0)
	to := &move{x: x, y: y, shape: x.Shape, src: all(x), dst: region{strides: rowMajor(x.Shape)}}
	from := &move{x: x, y: y, shape: y.Shape, src: region{strides: rowMajor(y.Shape)}, dst: all(y)}
	switch {
	case y.inOrder():
		return to.action()
	case x.inOrder():
		return from.action()
	}
	middle := &value{Type: x.Type, count: x.count, channels: 1, positions: x.count, input: -1}
	middle.slot = c.temp(0, 0, x.size())
	to.y, from.x = middle, middle
	return sequence([]action{to.action(), from.action()})
}

// inOrder reports whether the elements of a unit lie in logical order.
func (v *value) inOrder() bool { return !v.last || v.positions == 1 || v.channels == 1 }
