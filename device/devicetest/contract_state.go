package devicetest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func stateCases() []Case {
	const rule = "Read, Write and Run see committed state only."
	return []Case{
		contractCase("state: write and read", "Write sets a state tensor at the current version. t is copied.",
			writeAndRead),
		contractCase("state: many at once", "WriteAll is Write of the tensor of each name, in order.", manyAtOnce),
		contractCase("state: reads are copies", "Read returns a copy of a state tensor of the current version.",
			readsAreCopies),
		contractCase("state: mistakes", "Invalid: the caller's mistake.", stateMistakes),
		contractCase("state: what is written is used", rule, writtenIsUsed),
		contractCase("state: what is committed is used", rule, committedIsUsed),
	}
}

func writeAndRead(ctx context.Context, m *member, s *setting) error {
	const name = "conv.weight"
	t := s.state[name].Clone()
	if err := m.x.Write(ctx, name, t); err != nil {
		return err
	}
	clear(t.Bytes) // the device has a copy
	got, err := m.x.Read(ctx, name)
	if err != nil {
		return err
	}
	return tensor.Close(got, s.state[name], tensor.Tolerance{})
}

// manyAtOnce writes all state tensors with WriteAll, many times. Then it writes them together with a
// tensor of an unknown name, which must fail.
func manyAtOnce(ctx context.Context, m *member, s *setting) error {
	const times = 20
	names := small("batch").names()
	for i := range times {
		state := maps.Clone(s.state)
		for _, name := range names {
			t := s.state[name].Clone()
			set(t, func(k int) float64 { return float64(i) + float64(k%5)/8 })
			state[name] = t
		}
		if err := m.x.WriteAll(ctx, names, state); err != nil {
			return err
		}
		if err := equalState(ctx, m, state, names); err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
	}
	unknown := append(slices.Clone(names), "nothing", names[0])
	state := maps.Clone(s.state)
	state["nothing"] = tensor.New(tensor.F32, 1)
	if err := wantKind(m.x.WriteAll(ctx, unknown, state), device.Invalid); err != nil {
		return fmt.Errorf("a name that it does not know among others: %w", err)
	}
	if err := m.x.WriteAll(ctx, names, s.state); err != nil {
		return fmt.Errorf("after that: %w", err)
	}
	return equalState(ctx, m, s.state, names)
}

// equalState reads state tensors and compares their bits.
func equalState(ctx context.Context, m *member, want map[string]tensor.Tensor, names []string) error {
	got, err := read(ctx, m.x, names)
	if err != nil {
		return err
	}
	ordered := make([]tensor.Tensor, len(names))
	for i, name := range names {
		ordered[i] = want[name]
	}
	return equal(got, ordered, tensor.Tolerance{}, names)
}

func readsAreCopies(ctx context.Context, m *member, s *setting) error {
	for _, name := range small("batch").names() {
		t, err := m.x.Read(ctx, name)
		if err != nil {
			return err
		}
		clear(t.Bytes)
		again, err := m.x.Read(ctx, name)
		if err != nil {
			return err
		}
		if err := tensor.Close(again, s.state[name], tensor.Tolerance{}); err != nil {
			return fmt.Errorf("%s, after what Read returned was overwritten: %w", name, err)
		}
	}
	return nil
}

func stateMistakes(ctx context.Context, m *member, s *setting) error {
	write := func(name string, t tensor.Tensor) func() error {
		return func() error { return m.x.Write(ctx, name, t) }
	}
	return allFail([]attempt{
		{"read of unknown state", device.Invalid, func() error { _, err := m.x.Read(ctx, "nothing"); return err }},
		{"write of unknown state", device.Invalid, write("nothing", tensor.New(tensor.F32, 1))},
		{"write of another shape", device.Invalid, write("bn.gamma", tensor.New(tensor.F32, 6))},
		{"write of another rank", device.Invalid, write("bn.gamma", tensor.New(tensor.F32, 5, 1))},
		{"write of another type", device.Invalid, write("bn.gamma", tensor.New(tensor.F64, 5))},
	})
}

// near is the bound for the difference between predictions of the device and of ref.
var near = bound{absolute: 1e-5, relative: 1e-5, inner: true}

// predictedBy compares predictions with the predictions of ref.
func (s *setting) predictedBy(ctx context.Context, got tensor.Tensor) error {
	want, err := s.reference(ctx)
	if err != nil {
		return err
	}
	s.tol = near
	tol, err := s.tolerances(ctx, want)
	if err != nil {
		return err
	}
	return tensor.Close(got, want[0], tol[0])
}

// writtenIsUsed predicts, writes one state tensor after the other, and
// predicts again. A device that has packed or folded weights must do that again.
func writtenIsUsed(ctx context.Context, m *member, _ *setting) error {
	s, err := small("batch").setting(graph.Predict, 2, 3)
	if err != nil {
		return err
	}
	if _, err := s.run(ctx, m.x); err != nil {
		return err
	}
	for _, st := range s.program.State {
		if st.Role == graph.Optimizer {
			continue
		}
		t := s.state[st.Name].Clone()
		set(t, func(i int) float64 { return 0.25 + float64(i%7)/8 })
		s.state[st.Name] = t
		if err := m.x.Write(ctx, st.Name, t); err != nil {
			return err
		}
		got, err := s.run(ctx, m.x)
		if err != nil {
			return err
		}
		if err := s.predictedBy(ctx, got[0]); err != nil {
			return fmt.Errorf("after %s was written: %w", st.Name, err)
		}
	}
	return nil
}

// committedIsUsed makes three training steps. After each commit it predicts, and compares the result with
// a prediction of ref from the state that the device holds.
func committedIsUsed(ctx context.Context, m *member, train *setting) error {
	s, err := small("batch").setting(graph.Predict, 2, 3)
	if err != nil {
		return err
	}
	for v := range device.Version(3) {
		if _, err := train.run(ctx, m.x); err != nil {
			return err
		}
		if err := m.x.Commit(ctx, v, rate); err != nil {
			return err
		}
		for name := range s.state {
			if s.state[name], err = m.x.Read(ctx, name); err != nil {
				return err
			}
		}
		got, err := s.run(ctx, m.x)
		if err != nil {
			return err
		}
		if err := s.predictedBy(ctx, got[0]); err != nil {
			return fmt.Errorf("after commit of version %d: %w", v, err)
		}
	}
	return nil
}
