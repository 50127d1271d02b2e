package ref

import (
	"context"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Eval64 returns the outputs of f, computed with the loops of this package but without
// rounding to f32, so that finite differences of its results can be compared with
// gradients. Only updates are rounded as usual.
//
// state has the state tensors by name, and inputs the inputs in order. Their shapes are as
// in a device.Step, with F64 where f has f32. rows has the number of rows of each replica;
// all replicas are on this device. The result has all outputs, including kept ones, with F64
// where f has f32. f must be valid. A wrong operand is an error.
func Eval64(f *graph.Function, state map[string]tensor.Tensor, inputs []tensor.Tensor,
	rows []int) ([]tensor.Tensor, error) {
	fr := newFrame(f, rows)
	fr.f64 = true
	if len(inputs) != len(f.Inputs) {
		return nil, fmt.Errorf("%d inputs, want %d", len(inputs), len(f.Inputs))
	}
	for i, v := range f.Inputs {
		if err := fr.set(v, inputs[i]); err != nil {
			return nil, err
		}
	}
	for v, variable := range f.Values {
		if variable.State != "" {
			if err := fr.set(graph.Value(v), state[variable.State]); err != nil {
				return nil, err
			}
		}
	}
	if err := fr.run(context.Background()); err != nil {
		return nil, err
	}
	var out []tensor.Tensor
	for _, o := range f.Outputs {
		out = append(out, fr.result(o.Value))
	}
	return out, nil
}

// set checks a tensor from outside and makes it a value of the frame.
func (f *frame) set(v graph.Value, t tensor.Tensor) error {
	typ := f.fn.Values[v].Type
	shape, d := fullShape(typ, f.lead(typ.Kind)), f.stored(typ.DType)
	if t.DType != d || !slices.Equal(t.Shape, shape) {
		return fmt.Errorf("%s is %v, want %s", f.fn.Values[v].Name, t, tensor.Describe(d, shape))
	}
	f.values[v] = fromTensor(typ, f.lead(typ.Kind), t)
	if !f.f64 {
		f.values[v].round(f.bf16)
	}
	return nil
}
