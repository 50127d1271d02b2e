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
	src, dst := of[float32](f.inputs[v.input].Bytes), f.f32(v)
	f.eachRow(func(_ *worker, i int) {
		transpose(row(dst, v, i), row(src, v, i), v.channels, v.positions)
		if f.exe.device.bf16 {
			f.exe.device.kernels.RoundBF16(row(dst, v, i))
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
	src, dst := f.f32(v), of[float32](out.Bytes)
	f.eachRow(func(_ *worker, i int) {
		transpose(row(dst, v, i), row(src, v, i), v.positions, v.channels)
	})
	return out
}
