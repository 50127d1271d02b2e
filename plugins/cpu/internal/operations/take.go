package operations

import (
	"slices"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// axisLines describes how an axis is stored in memory: as outer times length lines, each with inner
// elements.
type axisLines struct{ outer, length, inner int }

// linesOf returns the lines of an axis of v.
func linesOf(v *run.Value, axis int) axisLines {
	strides := v.Strides()
	l := axisLines{length: v.Shape[axis], inner: strides[axis]}
	l.outer = v.Count / max(l.length*l.inner, 1)
	return l
}

func buildTake(c *plan.Compiler) run.Action {
	x, y, index := c.In(0), c.Out(0), c.Node().Ints("index")
	l := linesOf(x, c.Node().Int("axis"))
	copyUnit := takeUnit[uint8]
	switch size := y.DType.Size(); {
	case x.Last != y.Last:
		return takenTo(c)
	case size == 2:
		copyUnit = takeUnit[uint16]
	case size == 4:
		copyUnit = takeUnit[uint32]
	case size == 8:
		copyUnit = takeUnit[uint64]
	}
	return run.ByUnit(y.Kind, &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		copyUnit(l, index, f.Unit(y, w, y.Kind, i), f.Unit(x, w, y.Kind, i))
	}})
}

// takenTo returns the action for a result that has another layout than its operand, as is possible for maps
// of bytes. It makes one move for each index.
func takenTo(c *plan.Compiler) run.Action {
	x, y, axis := c.In(0), c.Out(0), c.Node().Int("axis")
	shape := slices.Clone(y.Shape)
	shape[axis] = 1
	var moves []run.Action
	for i, j := range c.Node().Ints("index") {
		src, dst := all(x), all(y)
		src.first += j * src.strides[axis]
		dst.first += i * dst.strides[axis]
		moves = append(moves, (&move{x: x, y: y, shape: shape, src: src, dst: dst}).action())
	}
	return sequence(moves)
}

// takeUnit copies the selected lines of one unit. T has the size of an element.
func takeUnit[T uint8 | uint16 | uint32 | uint64](l axisLines, index []int, result, operand []byte) {
	dst, src := layout.View[T](result), layout.View[T](operand)
	for o := range l.outer {
		block := src[o*l.length*l.inner:]
		if l.inner == 1 {
			for i, j := range index {
				dst[o*len(index)+i] = block[j]
			}
			continue
		}
		for i, j := range index {
			copy(dst[(o*len(index)+i)*l.inner:][:l.inner], block[j*l.inner:])
		}
	}
}

func buildTakeGrad(c *plan.Compiler) run.Action {
	dy, dx := c.In(0), c.Out(0)
	s := spread{axisLines: linesOf(dx, c.Node().Int("axis")), count: len(c.Node().Ints("index"))}
	s.ends, s.positions = class.Takers(c.Node(), s.length)
	add := spreadUnit[float32]
	if dx.DType == tensor.F64 {
		add = spreadUnit[float64]
	}
	return run.ByUnit(dx.Kind, &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		add(&s, f.Unit(dx, w, dx.Kind, i), f.Unit(dy, w, dx.Kind, i))
	}})
}

// spread computes the gradient of a take: it adds each line of a gradient to the line that was taken. ends
// and positions are the results of class.Takers.
type spread struct {
	axisLines
	count           int
	ends, positions []int
}

// spreadUnit computes one unit. It adds in float64, in the order of the taken lines.
func spreadUnit[T float32 | float64](s *spread, result, operand []byte) {
	dst, src := layout.View[T](result), layout.View[T](operand)
	for o := range s.outer {
		first, block := 0, src[o*s.count*s.inner:]
		for j, end := range s.ends {
			line := dst[(o*s.length+j)*s.inner:][:s.inner]
			for k := range line {
				sum := 0.0
				for _, i := range s.positions[first:end] {
					sum += float64(block[i*s.inner+k])
				}
				line[k] = T(sum)
			}
			first = end
		}
	}
}
