package devicetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func loadCases() []Case {
	return []Case{
		{Name: "info: what a device says of itself",
			Rule: "Info describes the device. It costs nothing and never fails.", Run: checkInfo},
		{Name: "open: precisions",
			Rule: "Precisions: at which it can be opened; none is F32 alone.", Run: checkPrecisions},
		newCase("load: new state", "The executable is returned, its state all zeros at version 0.",
			small("batch").program, newState),
		newCase("load: invalid program", "Invalid says what is wrong with the program.", small("batch").program,
			invalidProgram),
		contractCase("grow: state", "Grow raises the capacity to at least c, keeping the state.", growKeepsState),
		contractCase("load: two at a time", "What one executable does, no other one sees.", twoExecutables),
	}
}

func checkInfo(ctx context.Context, open Opener) error {
	d, err := open.device(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	i := d.Info()
	switch {
	case i.Name == "" || i.Kernels == "":
		return fmt.Errorf("name %q and kernel class %q, want both", i.Name, i.Kernels)
	case (i.Kernels == class.Generic || i.Kernels == class.AMX) && !strings.HasPrefix(i.Name, "cpu"):
		return fmt.Errorf("kernel class %q is that of the device cpu alone; others have %q, %q, or a class of "+
			"their own, such as the name of the plugin", i.Kernels, class.FMA, class.Ref)
	case len(i.Levels) == 0:
		return fmt.Errorf("no level; %s is the one that every plugin has", device.Stream)
	case len(i.Ops) == 0:
		return fmt.Errorf("no operations")
	}
	for _, c := range i.Classes {
		name, _, ok := class.ParseNumber(c)
		if !ok || name != i.Kernels && name != class.Int8Class {
			return fmt.Errorf("numbered class %q, want NAME/NUMBER with the name %s or %s, for example %s/1", c,
				i.Kernels, class.Int8Class, i.Kernels)
		}
	}
	for _, p := range i.Precisions {
		if _, err := device.ParsePrecision(p); err != nil || !i.Computes(device.F32) {
			return fmt.Errorf("precisions %q, want some of %q, and %s among them", i.Precisions,
				device.Precisions(), device.F32)
		}
	}
	for _, o := range i.Ops {
		if !o.Valid() || o.Host() {
			return fmt.Errorf("operation %v is not one of devices", o)
		}
	}
	if n := d.Info(); n.Name != i.Name || !slices.Equal(n.Ops, i.Ops) {
		return fmt.Errorf("a second call says %q with %d operations, the first %q with %d", n.Name, len(n.Ops),
			i.Name, len(i.Ops))
	}
	return nil
}

// checkPrecisions tries to open a device at precisions that it does not have.
func checkPrecisions(ctx context.Context, open Opener) error {
	info, err := infoOf(ctx, open)
	if err != nil {
		return err
	}
	for _, p := range device.Precisions() {
		if info.Computes(p) {
			continue
		}
		d, err := open(ctx, p)
		if err == nil {
			d.Close()
		}
		if err := wantKind(err, device.Unsupported); err != nil {
			return fmt.Errorf("opened at %s, which Info does not list: %w", p, err)
		}
	}
	return nil
}

func newState(ctx context.Context, open Opener) error {
	d, err := open.device(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	n := small("batch")
	p, err := n.program()
	if err != nil {
		return err
	}
	x, err := d.Load(ctx, p, capacity)
	if err != nil {
		return err
	}
	for _, s := range p.State {
		t, err := x.Read(ctx, s.Name)
		if err != nil {
			return err
		}
		if err := tensor.Close(t, tensor.New(s.DType, s.Shape...), tensor.Tolerance{}); err != nil {
			return fmt.Errorf("state %s: %w", s.Name, err)
		}
	}
	if needs := x.Needs(); needs.Fixed < 0 || needs.PerRow < 0 {
		return fmt.Errorf("needs %+v, want no negative numbers", needs)
	}
	return nil
}

// invalidProgram tries to load programs with mistakes. The Check of package graph finds the mistakes.
func invalidProgram(ctx context.Context, open Opener) error {
	d, err := open.device(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	var attempts []attempt
	for _, c := range []struct {
		what  string
		spoil func(*graph.Program)
	}{
		{"an operand that does not exist", func(p *graph.Program) { p.Functions[0].Nodes[1].In[0] = 1 << 20 }},
		{"a wrong type", func(p *graph.Program) {
			f := p.Functions[0]
			f.Values[f.Nodes[1].Out[0]].Type.Shape[0]++
		}},
		{"two functions of one name", func(p *graph.Program) { p.Functions[2].Name = graph.Train }},
		{"an update of unknown state", func(p *graph.Program) { p.Functions[1].Updates[0].State = "nothing" }},
	} {
		p, err := small("batch").program()
		if err != nil {
			return err
		}
		c.spoil(p)
		attempts = append(attempts, attempt{c.what, device.Invalid, func() error {
			_, err := d.Load(ctx, p, capacity)
			return err
		}})
	}
	return allFail(attempts)
}

func growKeepsState(ctx context.Context, m *member, s *setting) error {
	large := device.Capacity{Rows: capacity.Rows * 4, Replicas: capacity.Replicas * 2}
	big, err := small("batch").setting(graph.Train,
		slices.Repeat([]int{large.Rows / large.Replicas}, large.Replicas)...)
	if err != nil {
		return err
	}
	if _, err := big.run(ctx, m.x); err == nil {
		return fmt.Errorf("a step of %d rows ran within a capacity of %d", large.Rows, capacity.Rows)
	}
	before, err := s.run(ctx, m.x)
	if err != nil {
		return err
	}
	if err := m.x.Grow(ctx, large); err != nil {
		return err
	}
	after, err := s.run(ctx, m.x)
	if err != nil {
		return err
	}
	if err := equal(after, before, tensor.Tolerance{Absolute: 1e-5}, outputNames); err != nil {
		return fmt.Errorf("after Grow: %w", err)
	}
	if _, err := big.run(ctx, m.x); err != nil {
		return fmt.Errorf("a step of the new capacity: %w", err)
	}
	return m.x.Grow(ctx, device.Capacity{Rows: 1, Replicas: 1}) // less than the present capacity: no change
}

// outputNames are the names of the outputs of a training step of the network.
var outputNames = []string{"logits", "loss", "correct", "bn.moments"}

func twoExecutables(ctx context.Context, m *member, s *setting) error {
	other, err := m.Load(ctx, s.program, capacity)
	if err != nil {
		return err
	}
	if _, err := s.run(ctx, m.x); err != nil {
		return err
	}
	if err := m.x.Commit(ctx, 0, rate); err != nil {
		return err
	}
	t, err := other.Read(ctx, "conv.weight")
	if err != nil {
		return err
	}
	if err := tensor.Close(t, tensor.New(t.DType, t.Shape...), tensor.Tolerance{}); err != nil {
		return fmt.Errorf("the other executable's state: %w", err)
	}
	if err := other.Close(); err != nil {
		return err
	}
	_, err = s.run(ctx, m.x)
	return err
}
