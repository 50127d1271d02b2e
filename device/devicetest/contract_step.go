package devicetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func stepCases() []Case {
	return []Case{
		contractCase("run: mistakes", "Invalid: the caller's mistake: wrong program, input, version.",
			stepMistakes),
		contractCase("run: ownership", "Inputs are not kept after it returns; outputs belong to the caller.",
			ownership),
		contractCase("run: changes nothing",
			"Run reads the state of one version and changes nothing that anybody can see.", runChangesNothing),
		contractCase("run: again",
			"A run that failed can be repeated, here or elsewhere, with the same inputs and the same bits.",
			sameAgain),
		contractCase("run: times",
			"Blocked is how long the run waited for other members; Took is the whole time.", times),
		contractCase("run: profile", "Nodes says how much of Took each node of the function had, in order; "+
			"asking changes no result.", profiles),
		contractCase("run: last", "That no run follows changes no result, and a later run is allowed.", lastRuns),
		contractCase("run: no rows at all",
			"Zero rows on a replica and zero replicas on a device are legal everywhere.", noRows),
	}
}

func stepMistakes(ctx context.Context, m *member, s *setting) error {
	run := func(change func(*device.Step)) func() error {
		return func() error {
			step := s.step(0)
			step.Inputs, step.Rows = slices.Clone(step.Inputs), slices.Clone(step.Rows)
			change(&step)
			_, err := m.x.Run(ctx, step)
			return err
		}
	}
	total := sum(s.rows)
	err := allFail([]attempt{
		{"unknown function", device.Invalid, run(func(t *device.Step) { t.Function = "nothing" })},
		{"commit is not run but committed", device.Invalid,
			run(func(t *device.Step) { t.Function = graph.Commit })},
		{"one input too few", device.Invalid, run(func(t *device.Step) { t.Inputs = t.Inputs[:2] })},
		{"one input too many", device.Invalid, run(func(t *device.Step) {
			t.Inputs = append(t.Inputs, t.Inputs[0])
		})},
		{"no tensor", device.Invalid, run(func(t *device.Step) { t.Inputs[0] = tensor.Tensor{} })},
		{"a row too few", device.Invalid, run(func(t *device.Step) { t.Inputs[0] = t.Inputs[0].Rows(0, total-1) })},
		{"other shape", device.Invalid, run(func(t *device.Step) {
			t.Inputs[0] = t.Inputs[0].Reshape(total, 1, 6, 6)
		})},
		{"other type", device.Invalid, run(func(t *device.Step) { t.Inputs[1] = tensor.New(tensor.I64, total) })},
		{"negative rows", device.Invalid, run(func(t *device.Step) { t.Rows[0], t.Rows[1] = total+1, -1 })},
		{"rows that the inputs lack", device.Invalid, run(func(t *device.Step) { t.Rows[0]++ })},
		{"too many replicas", device.Invalid, run(func(t *device.Step) {
			t.Rows = append(t.Rows, make([]int, capacity.Replicas)...)
		})},
	})
	if err != nil {
		return err
	}
	_, err = s.run(ctx, m.x)
	return err
}

func ownership(ctx context.Context, m *member, s *setting) error {
	copied := *s
	copied.inputs = nil
	for _, t := range s.inputs {
		copied.inputs = append(copied.inputs, t.Clone())
	}
	first, err := copied.run(ctx, m.x)
	if err != nil {
		return err
	}
	var copies []tensor.Tensor
	for _, t := range first {
		copies = append(copies, t.Clone())
	}
	for _, t := range copied.inputs {
		clear(t.Bytes) // the device must no longer use these bytes
	}
	if err := m.x.Commit(ctx, 0, rate); err != nil {
		return err
	}
	if _, err := copied.run(ctx, m.x); err != nil {
		return err
	}
	if err := equal(first, copies, tensor.Tolerance{}, outputNames); err != nil {
		return fmt.Errorf("outputs after another run: %w", err)
	}
	return nil
}

func runChangesNothing(ctx context.Context, m *member, s *setting) error {
	before, err := m.snapshot(ctx)
	if err != nil {
		return err
	}
	for range 2 {
		if _, err := s.run(ctx, m.x); err != nil {
			return err
		}
	}
	return m.unchanged(ctx, before)
}

func sameAgain(ctx context.Context, m *member, s *setting) error {
	first, err := s.run(ctx, m.x)
	if err != nil {
		return err
	}
	for range 3 {
		again, err := s.run(ctx, m.x)
		if err != nil {
			return err
		}
		if err := equal(again, first, tensor.Tolerance{}, outputNames); err != nil {
			return err
		}
	}
	return nil
}

func lastRuns(ctx context.Context, m *member, s *setting) error {
	want, err := s.run(ctx, m.x)
	if err != nil {
		return err
	}
	for run, last := range []bool{true, true, false, true} {
		step := s.step(0)
		step.Last = last
		o, err := m.x.Run(ctx, step)
		if err != nil {
			return err
		}
		if err := equal(o.Outputs, want, tensor.Tolerance{}, outputNames); err != nil {
			return fmt.Errorf("run %d, last %v: %w", run, last, err)
		}
	}
	return nil
}

// profiles checks the times of nodes. A device without the feature ignores the request.
func profiles(ctx context.Context, m *member, s *setting) error {
	want, err := s.run(ctx, m.x)
	if err != nil {
		return err
	}
	step := s.step(0)
	step.Profile = true
	o, err := m.x.Run(ctx, step)
	if err != nil {
		return err
	}
	if err := equal(o.Outputs, want, tensor.Tolerance{}, outputNames); err != nil {
		return fmt.Errorf("outputs of a profiled run: %w", err)
	}
	if !m.Info().Has(device.Profile) {
		if o.Nodes != nil {
			return fmt.Errorf("times of %d nodes without the feature %s", len(o.Nodes), device.Profile)
		}
		return nil
	}
	if nodes := len(s.program.Function(s.function).Nodes); len(o.Nodes) != nodes {
		return fmt.Errorf("times of %d nodes, the function has %d", len(o.Nodes), nodes)
	}
	var all time.Duration
	for i, t := range o.Nodes {
		if all += t; t < 0 {
			return fmt.Errorf("node %d took %v", i, t)
		}
	}
	if all <= 0 || all > o.Took {
		return fmt.Errorf("the nodes took %v of %v", all, o.Took)
	}
	return nil
}

// noRows checks a step without rows: loss and counts are 0, and the gradients are zeros, so that
// only weight decay changes the weights.
func noRows(ctx context.Context, m *member, s *setting) error {
	for _, rows := range [][]int{{0, 0, 0}, {}} {
		empty, err := small("batch").setting(graph.Train, rows...)
		if err != nil {
			return err
		}
		if err := empty.write(ctx, m.x); err != nil {
			return err
		}
		out, err := empty.run(ctx, m.x)
		if err != nil {
			return fmt.Errorf("rows %v: %w", rows, err)
		}
		for i := 1; i < 3; i++ { // loss and counts
			if err := tensor.Close(out[i], tensor.New(out[i].DType, out[i].Shape...),
				tensor.Tolerance{Absolute: 1e-300}); err != nil {
				return fmt.Errorf("rows %v: %s: %w", rows, outputNames[i], err)
			}
		}
	}
	if err := m.x.Commit(ctx, 0, rate); err != nil {
		return err
	}
	after, err := m.snapshot(ctx)
	if err != nil {
		return err
	}
	for i, name := range small("batch").names() {
		if err := tensor.Close(after[i], s.state[name], tensor.Tolerance{Absolute: 1e-3}); err != nil {
			return fmt.Errorf("%s after a step without rows: %w", name, err)
		}
	}
	return nil
}

func times(ctx context.Context, m *member, s *setting) error {
	o, err := m.x.Run(ctx, s.step(0))
	if err != nil {
		return err
	}
	if o.Took <= 0 || o.Blocked < 0 || o.Blocked > o.Took {
		return fmt.Errorf("took %v, blocked for %v of it", o.Took, o.Blocked)
	}
	return nil
}
