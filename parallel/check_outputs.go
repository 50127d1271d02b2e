package parallel

import (
	"context"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// A prediction that is infinite or NaN is right if the model says so and wrong if a device
// does. A device of bnctl's own computes the row once more, and decides.

// checkOutputs looks at what devices of other makers predicted. An output that is infinite or NaN may be
// the model's: where the referee has finite numbers for the row the device is lost. Once the
// referee has none either it is not asked again until the next commit.
func (d *Driver) checkOutputs(ctx context.Context, p *prediction) error {
	referee := d.referee()
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
			return ctx.Err() // nobody can say
		}
		if bad, _ := notFinite(right); bad >= 0 {
			d.inFlight.believed.Store(true)
			return nil
		}
		name := d.program.current.Function(graph.Predict).Outputs[output].Name
		return &lost{m, device.Errorf(m.Name, "Run "+graph.Predict, device.Lost,
			"output %s of row %d is infinite or NaN, and finite on bnctl's own device", name, row)}
	}
	return nil
}

// referee returns what predicts a row on a device of bnctl's own: Config.Referee, or a member, which
// has the same state; nil if there is none.
func (d *Driver) referee() func(context.Context, []tensor.Tensor) ([]tensor.Tensor, error) {
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
			o, err := m.exe.Run(ctx, device.Step{Function: graph.Predict, Number: d.group.runs,
				Rows: []int{in[0].Shape[0]}, Inputs: in})
			out = o.Outputs
			return err
		})
		return out, err
	}
}

// notFinite returns the first row with an element that is infinite or NaN, and its output; -1 if
// there is none.
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
