package parallel

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Rows returns how many rows Predict runs at once at most.
func (d *Driver) Rows() int {
	share := d.group.members[0].capacity.Rows
	for _, m := range d.group.members {
		share = min(share, m.capacity.Rows)
	}
	return share * len(d.group.members)
}

// Predict runs the function graph.Predict on rows of x, shared among the
// devices, and returns its outputs in order. A row's outputs depend neither on
// the other rows nor on the device. After an error that wraps NoDevices the
// driver is of no more use.
//
// With peers all ranks call it with the same rows, of which each needs to have its
// own share only (OwnRows), and all get all outputs.
func (d *Driver) Predict(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
	if d.ranks != nil {
		return d.predictOverRanks(ctx, x)
	}
	return d.predictHere(ctx, x)
}

func (d *Driver) predictHere(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
	var parts [][]tensor.Tensor
	for from := 0; from < x.Shape[0]; {
		to, outs, err := d.predict(ctx, x, from)
		if err != nil {
			if err := d.recovery.after(ctx, err); err != nil {
				return nil, err
			}
			continue
		}
		d.recovery.progressed()
		for _, o := range outs {
			parts = append(parts, o.Outputs)
		}
		from = to
	}
	d.predicted += x.Shape[0]
	return joinRows(parts), nil
}

// predict runs rows of x from one on, Rows at most: an even share on every
// member. It returns the first row that is left.
func (d *Driver) predict(ctx context.Context, x tensor.Tensor, first int) (int, []device.Outcome, error) {
	if len(d.group.members) == 0 {
		return first, nil, NoDevices
	}
	if err := d.recovery.ready(ctx); err != nil {
		return first, nil, err
	}
	end := min(first+d.Rows(), x.Shape[0])
	last := d.predicted+end == d.config.Samples
	x = x.Rows(first, end)
	d.group.runs++
	members := d.group.members
	share, from := Split(x.Shape[0], len(members)), make([]int, len(members)+1)
	for i, n := range share {
		from[i+1] = from[i] + n
	}
	outs := make([]device.Outcome, len(members))
	err := d.group.eachAlone(func(rank int, m *member) (err error) {
		step := device.Step{Function: graph.Predict, Number: d.group.runs, Rows: []int{share[rank]}, Last: last,
			Inputs: []tensor.Tensor{x.Rows(from[rank], from[rank+1])}}
		if outs[rank], err = m.exe.Run(ctx, step); err == nil {
			m.steps++
		}
		return err
	})
	return end, outs, err
}

// joinRows joins outputs of consecutive rows.
func joinRows(parts [][]tensor.Tensor) []tensor.Tensor {
	if len(parts) == 0 {
		return nil
	}
	joined := make([]tensor.Tensor, len(parts[0]))
	for i := range joined {
		shape, n := append([]int(nil), parts[0][i].Shape...), 0
		for _, p := range parts {
			n += p[i].Shape[0]
		}
		shape[0] = n
		joined[i] = tensor.New(parts[0][i].DType, shape...)
		at := 0
		for _, p := range parts {
			at += copy(joined[i].Bytes[at:], p[i].Bytes)
		}
	}
	return joined
}
