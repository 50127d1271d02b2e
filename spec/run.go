package spec

import (
	"context"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/tensor"
)

// Run runs the vector once on a device, which must be open at precision f32, and returns a Difference
// for each result with other bits. The device must support the operations of the vector.
func (v *Vector) Run(ctx context.Context, d device.Device) ([]Difference, error) {
	got, err := v.Compute(ctx, d)
	if err != nil {
		return nil, err
	}
	return v.Compare(got)
}

// Compute runs the vector once on a device and returns the results.
func (v *Vector) Compute(ctx context.Context, d device.Device) ([]tensor.Tensor, error) {
	p, err := v.Program()
	if err != nil {
		return nil, err
	}
	rows := 0
	for _, n := range v.Replicas {
		rows += n
	}
	x, err := d.Load(ctx, p, device.Capacity{Rows: max(rows, 1), Replicas: max(len(v.Replicas), 1)})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	step := device.Step{Function: function, Rows: v.Replicas}
	for i := range v.Operands {
		o := &v.Operands[i]
		if !o.State {
			step.Inputs = append(step.Inputs, o.tensor)
		} else if err := x.Write(ctx, o.Name, o.tensor); err != nil {
			return nil, err
		}
	}
	out, err := x.Run(ctx, step)
	if err != nil {
		return nil, err
	}
	return cloned(out.Outputs), nil
}

// cloned returns copies of tensors, because the memory of outputs may belong to the device.
func cloned(list []tensor.Tensor) []tensor.Tensor {
	out := make([]tensor.Tensor, len(list))
	for i, t := range list {
		out[i] = t.Clone()
	}
	return out
}

// Compare returns a Difference for each result in got that has other bits than the vector. An error
// means that their number, types or shapes are wrong.
func (v *Vector) Compare(got []tensor.Tensor) ([]Difference, error) {
	if len(got) != len(v.Results) {
		return nil, fmt.Errorf("%d results, want %d", len(got), len(v.Results))
	}
	var all []Difference
	for i, r := range v.Results {
		want := r.tensor
		if got[i].DType != want.DType || !slices.Equal(got[i].Shape, want.Shape) {
			return nil, fmt.Errorf("result %s is %v, want %v", r.Name, got[i], want)
		}
		if d, ok := differ(got[i], want); ok {
			d.Vector, d.Result = v.Name, r.Name
			all = append(all, d)
		}
	}
	return all, nil
}

// Missing returns the operations of the vector that a device does not have.
func (v *Vector) Missing(info device.Info) []string {
	var all []string
	for _, o := range v.Operations() {
		if !slices.Contains(info.Ops, o) {
			all = append(all, o.String())
		}
	}
	return all
}
