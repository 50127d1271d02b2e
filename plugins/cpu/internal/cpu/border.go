package cpu

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// bringIn copies an input in logical order to its slot.
func (f *frame) bringIn(v *value) {
	if !v.last {
		copy(f.bytes(v), f.inputs[v.input].Bytes)
		return
	}
	src, kernels := of[float32](f.inputs[v.input].Bytes), f.kernels
	f.eachRow(func(w *worker, i int) {
		if v.half {
			x := w.floats(v.count)
			transpose(x, row(src, v, i), v.channels, v.positions)
			kernels.NarrowBF16(row(f.allHalf(v), v, i), x)
			return
		}
		x := row(f.f32(v), v, i)
		transpose(x, row(src, v, i), v.channels, v.positions)
		if f.reduced {
			kernels.RoundBF16(x)
		}
	})
}

// transpose copies src [rows][columns] to dst [columns][rows].
func transpose(dst, src []float32, rows, columns int) {
	for r := range rows {
		for c, x := range src[r*columns:][:columns] {
			dst[c*rows+r] = x
		}
	}
}

// rowOf returns row i of a value in the arena: of a half as float32 in the
// worker's own memory.
func (f *frame) rowOf(v *value, w *worker, i int) []float32 {
	if !v.half {
		return row(f.f32(v), v, i)
	}
	x := w.floats(v.count)
	f.kernels.WidenBF16(x, row(f.allHalf(v), v, i))
	return x
}

// takeOut returns output v in logical order, as a tensor of its own.
func (f *frame) takeOut(v *value) tensor.Tensor {
	shape := slices.Clone(v.Shape)
	if v.Kind != graph.Whole {
		shape = append([]int{f.units(v.Kind)}, shape...)
	}
	out := tensor.New(v.DType, shape...)
	if !v.last {
		copy(out.Bytes, f.bytes(v))
		return out
	}
	dst := of[float32](out.Bytes)
	f.eachRow(func(w *worker, i int) { transpose(row(dst, v, i), f.rowOf(v, w, i), v.positions, v.channels) })
	return out
}
