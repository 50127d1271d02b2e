package devicetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// exchanges returns a program with three all-reduces that make two exchanges. The first two
// follow each other and share an exchange. The third depends on them, and no node reads its result.
func exchanges() (*graph.Program, error) {
	p := &graph.Program{Name: "exchanges"}
	b := graph.NewBuilder("exchange", &p.State)
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{3}})
	first := b.Op(graph.ChannelSum, "first", []graph.Value{x})
	second := b.Op(graph.ChannelSum, "second", []graph.Value{b.Op(graph.Relu, "relu", []graph.Value{x})})
	sums := []graph.Value{b.Op(graph.AllReduce, "first.sum", []graph.Value{first}),
		b.Op(graph.AllReduce, "second.sum", []graph.Value{second})}
	third := b.Op(graph.ChannelSum, "third", []graph.Value{b.Op(graph.Add, "add", []graph.Value{x, sums[1]})})
	sums = append(sums, b.Op(graph.AllReduce, "third.sum", []graph.Value{third}))
	for i, v := range sums {
		b.Output([]string{"first", "second", "third"}[i], v, false)
	}
	f, err := b.Function()
	p.Functions = []*graph.Function{f}
	return p, err
}

// exchangeInput is the input of the exchanges case: the device holds replica 1 with these rows. The
// case acts as replica 0, without rows.
var exchangeInput = []float32{1, -2, 3, -4, 5, 6}

// wantExchanges is the expected result of the device: the names of the reduced values by
// exchange, and their results.
var wantExchanges = []struct {
	name   string
	lane   collective.Lane
	values int
}{{"first", collective.Moments, 2}, {"third", collective.Gradients, 1}}

func exchangeCases() []Case {
	return []Case{
		newCase("exchange: tags", "All-reduces that follow each other are one exchange; a tag has generation, "+
			"step, lane, sequence in the lane and the name of the first value.", exchanges, checkTags),
		newCase("exchange: members that disagree",
			"The members disagree on the tag, on the number of values or on their types: the error says how.",
			exchanges, disagree),
		newCase("exchange: each in its turn", sequenceRule, exchangeSequence, checkSequence),
	}
}

// peer is the case itself in the role of the member with rank 1.
type peer struct {
	device.Executable
	exchange collective.Exchanger
	inputs   []tensor.Tensor
}

const theGeneration, theStep = 41, 17

// against opens a device and makes it rank 0 of a group of two. The case is rank 1.
func against(ctx context.Context, open Opener) (*peer, func(), error) {
	p, err := exchanges()
	if err != nil {
		return nil, nil, err
	}
	m, err := loaded(ctx, open, &setting{program: p})
	if err != nil {
		return nil, nil, err
	}
	hub := collective.NewHub(2, 2)
	err = m.Join(ctx, device.Group{Generation: theGeneration, Rank: 0, Replicas: [][]int{{1}, {0}},
		Level: m.Info().Levels[0], Exchange: hub.Member(0)})
	o := &peer{m.x, hub.Member(1), []tensor.Tensor{tensor.Of(exchangeInput, 2, 3)}}
	return o, func() { hub.Abort(errors.New("the case is over")); m.Close() }, err
}

// start runs the step on the device in a goroutine, and sends its error to the returned channel.
func (o *peer) start(ctx context.Context, out *device.Outcome) <-chan error {
	done := make(chan error, 1)
	go func() {
		var err error
		*out, err = o.Run(ctx, device.Step{Function: "exchange", Number: theStep, Rows: []int{2}, Inputs: o.inputs})
		done <- err
	}()
	return done
}

// exchangeWith participates in an exchange as a member without rows, and returns the results.
func (o *peer) exchangeWith(ctx context.Context, tag collective.Tag, values int) ([]tensor.Tensor, error) {
	var list []collective.Reduction
	var results []tensor.Tensor
	for range values {
		t := tensor.New(tensor.F32, 3)
		results = append(results, t)
		list = append(list, collective.Reduction{Op: collective.Sum, Result: t,
			Partials: []collective.Partial{{Node: collective.Node{From: 0, To: 1}}}})
	}
	return results, o.exchange.Start(ctx, tag, list)()
}

func checkTags(ctx context.Context, open Opener) error {
	o, end, err := against(ctx, open)
	if err != nil {
		return err
	}
	defer end()
	var out device.Outcome
	done := o.start(ctx, &out)
	var results []tensor.Tensor
	for i, e := range wantExchanges {
		tag := collective.Tag{Generation: theGeneration, Step: theStep, Lane: e.lane, Name: e.name}
		sums, err := o.exchangeWith(ctx, tag, e.values)
		if err != nil {
			return fmt.Errorf("exchange %d: %w", i, err)
		}
		results = append(results, sums...)
	}
	if err := <-done; err != nil {
		return err
	}
	if len(out.Outputs) != len(results) {
		return fmt.Errorf("%d outputs, want %d", len(out.Outputs), len(results))
	}
	return equal(out.Outputs, results, tensor.Tolerance{}, []string{"first", "second", "third"})
}

// disagree participates in the first exchange with a wrong tag, or with wrong values.
func disagree(ctx context.Context, open Opener) error {
	right := collective.Tag{Generation: theGeneration, Step: theStep, Name: "first"}
	step, sequence, generation := right, right, right
	step.Step++
	sequence.Sequence++
	generation.Generation--
	for _, c := range []struct {
		what   string
		tag    collective.Tag
		values int
	}{
		{"another step", step, 2}, {"another sequence", sequence, 2}, {"another generation", generation, 2},
		{"one value instead of two", right, 1}, {"no value", right, 0},
	} {
		if err := disagreeOn(ctx, open, c.tag, c.values); err != nil {
			return fmt.Errorf("the other member came with %s: %w", c.what, err)
		}
	}
	return nil
}

func disagreeOn(ctx context.Context, open Opener, tag collective.Tag, values int) error {
	o, end, err := against(ctx, open)
	if err != nil {
		return err
	}
	defer end()
	var out device.Outcome
	done := o.start(ctx, &out)
	if _, err := o.exchangeWith(ctx, tag, values); err == nil {
		return errors.New("the exchange worked")
	}
	select {
	case err := <-done:
		if err == nil || slices.Contains([]device.Kind{device.Canceled, device.Lost}, device.KindOf(err)) {
			return fmt.Errorf("the run ended with %v, want an error that says how they disagree", err)
		}
		return nil
	case <-time.After(promptly):
		return fmt.Errorf("the run went on for %v", promptly)
	}
}
