package parallel

import (
	"context"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/tensor"
)

// An infinite or NaN prediction is correct if the model yields it, and wrong if the device
// made it up. A built-in device computes the row once more, and its result decides.

// checkOutputs checks the predictions of foreign devices. If an output is infinite or NaN and the
// referee's output for the row is finite, the device is lost. If the referee's output is not finite
// either, the referee is not used again until the next commit.
func (d *Driver) checkOutputs(ctx context.Context, p *prediction) error {
	referee := d.referee(p.function)
	if referee == nil || d.inFlight.believed.Load() {
		return nil
	}
	for rank, m := range d.group.members {
		if !m.Foreign {
			continue
		}
		row, output := notFinite(p.outs[rank].Outputs)
		if row < 0 {
			continue
		}
		right, err := referee(ctx, rowsOfAll(p.inputs[rank], row, row+1))
		if err != nil {
			return ctx.Err() // undecided
		}
		if bad, _ := notFinite(right); bad >= 0 {
			d.inFlight.believed.Store(true)
			return nil
		}
		name := d.program.current.Function(p.function).Outputs[output].Name
		return &lost{m, device.Errorf(m.Name, "Run "+p.function, device.Lost,
			"output %s of row %d is infinite or NaN, and finite on bnctl's own device", name, row)}
	}
	return nil
}

// referee returns a function that predicts a row on a built-in device: on Config.Referee, or by the given
// function of the program on a built-in member, which has the same state. It returns nil if neither exists.
func (d *Driver) referee(function string) func(context.Context, []tensor.Tensor) ([]tensor.Tensor, error) {
	if d.config.Referee != nil {
		return func(ctx context.Context, in []tensor.Tensor) ([]tensor.Tensor, error) {
			return d.config.Referee(ctx, in[0])
		}
	}
	i := slices.IndexFunc(d.group.members, func(m *member) bool { return !m.Foreign })
	if i < 0 {
		return nil
	}
	m := d.group.members[i]
	return func(ctx context.Context, in []tensor.Tensor) (out []tensor.Tensor, err error) {
		err = d.group.timeouts.call(m, func() error {
			o, err := m.exe.Run(ctx, device.Step{Function: function, Number: d.group.runs,
				Rows: []int{in[0].Shape[0]}, Inputs: in})
			out = o.Outputs
			return err
		})
		return out, err
	}
}

// notFinite returns the first row with an infinite or NaN element, and the index of its
// output; row is -1 if all are finite.
func notFinite(outputs []tensor.Tensor) (row, output int) {
	for i, t := range outputs {
		if t.DType != tensor.F32 || device.AllFinite(t.F32()) {
			continue
		}
		for r := range t.Shape[0] {
			if !device.AllFinite(t.Rows(r, r+1).F32()) {
				return r, i
			}
		}
	}
	return -1, 0
}
