package models

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// RandomInput returns an input of m with that number of rows, the same in every call:
// uniform bytes, or numbers of the standard normal distribution; the integers of a field are
// 0 or 1. Use it to measure and compare models.
func RandomInput(m *Model, rows int) (tensor.Tensor, error) {
	in := m.Input()
	x := tensor.New(in.DType, append([]int{rows}, in.Shape...)...)
	d := tensor.NewPhilox(0, tensor.StreamInit).Draws(0, 0)
	switch in.DType {
	case tensor.U8:
		for i := range x.Bytes {
			x.Bytes[i] = byte(d.Uint32())
		}
	case tensor.F32:
		for i := range x.F32() {
			x.F32()[i] = float32(d.Normal())
		}
		m.roundFields(x)
	default:
		return x, fmt.Errorf("an input of %v cannot be made up", in.DType)
	}
	return x, nil
}

// roundFields makes the integers of fields 0 or 1, which are in the range of every table and mask.
func (m *Model) roundFields(x tensor.Tensor) {
	at := 0
	for _, p := range m.Fields {
		n := tensor.Count(p.Shape)
		for row := 0; p.DType != tensor.F32 && row < x.Shape[0]; row++ {
			for i, v := range x.F32()[row*x.Shape[1]+at:][:n] {
				x.F32()[row*x.Shape[1]+at+i] = 0
				if v > 0 {
					x.F32()[row*x.Shape[1]+at+i] = 1
				}
			}
		}
		at += n
	}
}
