package run

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
	"github.com/bnctl/bnctl/tensor"
)

// bringIn copies an input, which is in logical order, to its slot in the order of its layout.
func (f *Frame) bringIn(v *Value) {
	if !v.Last && !f.reduces(v) {
		copy(f.Bytes(v), f.inputs[v.input].Bytes)
		return
	}
	if v.DType.Size() == 1 {
		f.turnBytes(v, f.Bytes(v), f.inputs[v.input].Bytes, v.Channels, v.Positions)
		return
	}
	src, kernels := layout.View[float32](f.inputs[v.input].Bytes), f.Kernels
	if v.Last && !f.BF16() {
		f.turn(v, f.F32(v), src, v.Channels, v.Positions)
		return
	}
	f.eachRow(func(w *Worker, i int) {
		if v.half {
			x := w.Floats(v.Count)
			f.arrange(v, x, Row(src, v, i), v.Channels, v.Positions)
			kernels.NarrowBF16(Row(layout.View[uint16](f.Bytes(v)), v, i), x)
			return
		}
		x := Row(f.F32(v), v, i)
		f.arrange(v, x, Row(src, v, i), v.Channels, v.Positions)
		if f.BF16() {
			kernels.RoundBF16(x)
		}
	})
}

// turn transposes all rows. A row is [rows][columns] in src, and [columns][rows] in dst. If there are few
// rows, each row is divided among workers.
func (f *Frame) turn(v *Value, dst, src []float32, rows, columns int) {
	pieces := 1
	if f.Few() {
		pieces = f.pieces(v.Count/8, f.mostPieces())
	}
	f.Each(f.Total()*pieces, func(_ *Worker, task int) {
		i := task / pieces
		first, last := schedule.Span(task%pieces, pieces, columns)
		f.Kernels.TransposePart(Row(dst, v, i), Row(src, v, i), rows, columns, first, last)
	})
}

// turnBytes does the same as turn for elements of one byte.
func (f *Frame) turnBytes(v *Value, dst, src []byte, rows, columns int) {
	f.eachRow(func(_ *Worker, i int) { layout.TransposeBytes(Row(dst, v, i), Row(src, v, i), rows, columns) })
}

// reduces reports whether the values of v are rounded to bfloat16.
func (f *Frame) reduces(v *Value) bool { return f.BF16() && device.StoredBF16(v.Type) }

// arrange copies a row of v from its layout to logical order, or from logical order to its layout. It
// transposes the row unless both are the same.
func (f *Frame) arrange(v *Value, dst, src []float32, rows, columns int) {
	if v.Last {
		f.Kernels.Transpose(dst, src, rows, columns)
	} else {
		copy(dst, src)
	}
}

// RowOf returns row i of a value in the arena. A row of a half is returned as float32 in
// the worker's memory.
func (f *Frame) RowOf(v *Value, w *Worker, i int) []float32 {
	if !v.half {
		return Row(f.F32(v), v, i)
	}
	x := w.Floats(v.Count)
	f.Kernels.WidenBF16(x, Row(layout.View[uint16](f.Bytes(v)), v, i))
	return x
}

// shape returns the shape of an output.
func (f *Frame) shape(v *Value) []int {
	if v.Kind == graph.Whole {
		return slices.Clone(v.Shape)
	}
	return append([]int{f.Units(v.Kind)}, v.Shape...)
}

// takeOut returns output v in logical order, as a separate tensor.
func (f *Frame) takeOut(v *Value) tensor.Tensor {
	out := f.memory.Output(v.DType, f.shape(v))
	if !v.Last && !v.half {
		copy(out.Bytes, f.Bytes(v))
		return out
	}
	if v.DType.Size() == 1 {
		f.turnBytes(v, out.Bytes, f.Bytes(v), v.Positions, v.Channels)
		return out
	}
	dst := layout.View[float32](out.Bytes)
	if !v.half {
		f.turn(v, dst, f.F32(v), v.Positions, v.Channels)
		return out
	}
	f.eachRow(func(w *Worker, i int) {
		f.arrange(v, Row(dst, v, i), f.RowOf(v, w, i), v.Positions, v.Channels)
	})
	return out
}
