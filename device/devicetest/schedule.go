package devicetest

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// sequenceRule is about the order of exchanges.
const sequenceRule = "In each lane all members come to the same tags in the same order: sequence counts " +
	"the exchanges of the lane in the run, from 0, and the lane is LANE_GRADIENTS if no node of the function " +
	"reads a result (device.proto, Tag)."

// sequenceLength is the number of exchanges that the program of the case has in each lane.
const sequenceLength = 4

// exchangeSequence returns a program with two functions. Each has several exchanges, alternately in
// the two lanes.
func exchangeSequence() (*graph.Program, error) {
	p := &graph.Program{Name: "schedule"}
	for _, name := range []string{"first", "second"} {
		b := graph.NewBuilder(name, &p.State)
		x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{3}})
		for i := range sequenceLength {
			read := b.Op(graph.ChannelSum, fmt.Sprint(name, ".read", i), values{x})
			sum := b.Op(graph.AllReduce, fmt.Sprint(name, ".read", i, ".sum"), values{read})
			x = b.Op(graph.Add, fmt.Sprint(name, ".x", i), values{x, sum})
			last := b.Op(graph.ChannelSum, fmt.Sprint(name, ".last", i), values{x})
			out := fmt.Sprint("out", i)
			b.Output(out, b.Op(graph.AllReduce, fmt.Sprint(name, ".last", i, ".sum"), values{last}), false)
		}
		f, err := b.Function()
		if err != nil {
			return nil, err
		}
		p.Functions = append(p.Functions, f)
	}
	return p, nil
}

// recorder is an Exchanger for a device that holds one of two leaves. The other leaf has no
// rows. recorder compares each exchange with the exchange that is due.
type recorder struct {
	function string
	step     uint64
	came     [collective.Lanes]int
	err      error
}

// due returns the tag that exchange number index of a lane must have.
func (r *recorder) due(lane collective.Lane, index int) collective.Tag {
	kind := map[collective.Lane]string{collective.Moments: ".read", collective.Gradients: ".last"}[lane]
	return collective.Tag{Generation: theGeneration, Step: r.step, Lane: lane, Sequence: uint64(index),
		Name: fmt.Sprint(r.function, kind, index)}
}

func (r *recorder) Start(_ context.Context, tag collective.Tag, values []collective.Reduction) func() error {
	if r.err == nil {
		r.err = r.check(tag, values)
	}
	if r.err != nil {
		return func() error { return r.err }
	}
	copy(values[0].Result.Bytes, values[0].Partials[0].Value.Bytes)
	return func() error { return nil }
}

func (r *recorder) check(tag collective.Tag, values []collective.Reduction) error {
	if tag.Lane >= collective.Lanes || r.came[tag.Lane] == sequenceLength {
		return &misplaced{fmt.Errorf("an exchange came with %+v, and none is due in that lane", tag)}
	}
	want := r.due(tag.Lane, r.came[tag.Lane])
	if tag != want {
		return &misplaced{fmt.Errorf("an exchange came with %+v; due is %+v", tag, want)}
	}
	if len(values) != 1 || len(values[0].Partials) != 1 || values[0].Partials[0].Value.IsZero() {
		return &misplaced{fmt.Errorf("exchange %q does not come with the one part of its one value", tag.Name)}
	}
	r.came[tag.Lane]++
	return nil
}

// misplaced is the error for an exchange that is not due.
type misplaced struct{ error }

// Rule returns the rule that the device breaks.
func (m *misplaced) Rule() string { return sequenceRule }

// checkSequence runs both functions again and again, and checks the order of their exchanges.
func checkSequence(ctx context.Context, open Opener) error {
	p, err := exchangeSequence()
	if err != nil {
		return err
	}
	m, err := loaded(ctx, open, &setting{program: p})
	if err != nil {
		return err
	}
	defer m.Close()
	r := &recorder{}
	if err := m.Join(ctx, device.Group{Generation: theGeneration, Replicas: [][]int{{0}}, Tree: 2,
		Level: m.Info().Levels[0], Exchange: r}); err != nil {
		return err
	}
	for step, name := range []string{"first", "second", "second", "first"} {
		*r = recorder{function: name, step: uint64(theStep + step)}
		_, err := m.x.Run(ctx, device.Step{Function: name, Number: r.step, Rows: []int{2},
			Inputs: []tensor.Tensor{tensor.Of(exchangeInput, 2, 3)}})
		if r.err != nil {
			return fmt.Errorf("run of %q: %w", name, r.err)
		}
		if err != nil {
			return fmt.Errorf("run of %q: %w", name, err)
		}
		if want := [collective.Lanes]int{sequenceLength, sequenceLength}; r.came != want {
			return &misplaced{fmt.Errorf("a run of %q came to %v exchanges by lane, want %v", name, r.came, want)}
		}
	}
	return nil
}
