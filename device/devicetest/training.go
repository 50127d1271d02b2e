package devicetest

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// batches are the rows of eight replicas in the steps of a training: a full batch, an
// uneven one, and a last one with empty replicas.
var batches = [][]int{{2, 2, 2, 2, 2, 2, 2, 2}, {3, 1, 0, 2, 4, 0, 1, 1}, {1, 1, 1, 0, 0, 0, 0, 0},
	{2, 2, 2, 2, 2, 2, 2, 2}}

var allReplicas = []int{0, 1, 2, 3, 4, 5, 6, 7}

func trainingCases() []Case {
	var cases []Case
	for _, n := range []network{small("batch"), small("replica"), residual("batch", 0),
		residual("replica", 70), attention()} {
		cases = append(cases,
			newCase("training: as ref: "+n.name,
				"Every device computes what device/ref computes, within the tolerance of docs/numerics.md, section 5.",
				n.program, n.asRef),
			newCase("training: any number of devices: "+n.name,
				"The same bits on any number of devices (docs/numerics.md, section 4).",
				n.program, n.anyNumber),
			newCase("training: predict: "+n.name,
				"A row's values don't depend on its neighbours, the batch size, or which replicas share the device.",
				n.program, n.predictAlone))
	}
	return cases
}

func (n network) asRef(ctx context.Context, open Opener) error {
	want, err := n.trainOn(ctx, openRef, allReplicas)
	if err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	got, err := n.trainOn(ctx, open, allReplicas)
	if err != nil {
		return err
	}
	if precisionOf(ctx) == device.F32 {
		return n.compare(got, want, trainingTolerance)
	}
	plain, err := n.trainOn(withPrecision(ctx, device.F32), openRef, allReplicas)
	if err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	return n.compareFar(got, want, plain)
}

// anyNumber checks that training on any number of devices gives the result of one device. If the
// device has the feature Deterministic, the bits must be equal.
func (n network) anyNumber(ctx context.Context, open Opener) error {
	one, err := n.trainOn(ctx, open, allReplicas)
	if err != nil {
		return err
	}
	tol, err := sameness(ctx, open)
	if err != nil {
		return err
	}
	for _, placement := range placements {
		got, err := n.trainOn(ctx, open, placement...)
		if err == nil {
			err = n.compare(got, one, tol)
		}
		if err != nil {
			return fmt.Errorf("replicas held %v: %w", placement, err)
		}
	}
	return nil
}

// sameness returns the permitted difference between trainings on different numbers of devices.
func sameness(ctx context.Context, open Opener) (tensor.Tolerance, error) {
	d, err := open.device(ctx)
	if err != nil {
		return tensor.Tolerance{}, err
	}
	defer d.Close()
	if d.Info().Has(device.Deterministic) {
		return tensor.Tolerance{}, nil
	}
	return trainingTolerance, nil
}

// trainingTolerance is the tolerance of the errors that add up in a few steps of training.
var trainingTolerance = tensor.Tolerance{Absolute: 1e-4, Relative: 1e-4}

func (n network) predictAlone(ctx context.Context, open Opener) error {
	s, err := n.setting(graph.Predict, 5, 1, 0, 17)
	if err != nil {
		return err
	}
	m, err := loaded(ctx, open, s)
	if err != nil {
		return err
	}
	defer m.Close()
	joint, err := s.run(ctx, m.x)
	if err != nil {
		return err
	}
	want, err := s.reference(ctx)
	if err != nil {
		return err
	}
	tol := []tensor.Tolerance{{Absolute: 1e-5, Relative: 1e-5}}
	if precisionOf(ctx) == device.BF16 {
		if err := s.widen(ctx, tol, want); err != nil {
			return err
		}
	}
	if err := equal(joint, want, tol[0], outputNames); err != nil {
		return err
	}
	if !m.Info().Has(device.Deterministic) {
		return nil
	}
	for row := range sum(s.rows) {
		one := *s
		one.rows, one.inputs = []int{1}, []tensor.Tensor{s.inputs[0].Rows(row, row+1)}
		got, err := one.run(ctx, m.x)
		if err != nil {
			return err
		}
		if err := tensor.Close(got[0], joint[0].Rows(row, row+1), tensor.Tolerance{}); err != nil {
			return fmt.Errorf("row %d alone has other bits than among others: %w", row, err)
		}
	}
	return nil
}
