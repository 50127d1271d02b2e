package devicetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// poisons are the non-finite values that an operation must not hide.
var poisons = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}

// finiteProbes are operations that must propagate a non-finite element of the first operand to the
// results of its row or replica, and to no others.
var finiteProbes = []probe{
	{op: graph.Conv, attrs: []any{"pad", []int{1, 1, 1, 1}}, operands: []operand{rows(16, 5, 5), whole(16, 16,
		3, 3)}},
	{name: "32 channels,", op: graph.Conv, attrs: []any{"pad", []int{1, 1, 1, 1}},
		operands: []operand{rows(32, 6, 5), whole(32, 32, 3, 3)}},
	{op: graph.ConvGradInput, attrs: []any{"pad", []int{1, 1, 1, 1}, "size", []int{5, 5}},
		operands: []operand{rows(16, 5, 5), whole(16, 16, 3, 3)}},
	{op: graph.ConvGradWeight, attrs: []any{"pad", []int{1, 1, 1, 1}, "kernel", []int{3, 3}},
		operands: []operand{rows(16, 5, 5), rows(16, 5, 5)}},
	{name: "32 channels,", op: graph.ConvGradWeight,
		attrs:    []any{"pad", []int{1, 1, 1, 1}, "kernel", []int{3, 3}},
		operands: []operand{rows(32, 6, 5), rows(32, 6, 5)}},
	{op: graph.Dense, operands: []operand{rows(33), whole(7, 33)}},
	{op: graph.DenseGradInput, operands: []operand{rows(33), whole(33, 7)}},
	{op: graph.DenseGradWeight, operands: []operand{rows(33), rows(7)}},
	{op: graph.MatMul, operands: []operand{rows(5, 9), rows(9, 7)}},
	{op: graph.MatMul, name: "transposed,", attrs: []any{"transpose_a", true, "transpose_b", true},
		operands: []operand{rows(9, 5), rows(7, 9)}},
	{op: graph.Dense, name: "leading axes,", attrs: []any{"leading", 1},
		operands: []operand{rows(3, 33), whole(7, 33)}},
	{op: graph.Moments, operands: []operand{rows(5, 3, 3)}},
	{op: graph.Normalise, operands: []operand{rows(5, 3, 3), moment(whole, 5, 54), whole(5), whole(5)}},
	{op: graph.NormaliseGradSums, operands: []operand{rows(5, 3, 3), rows(5, 3, 3), moment(whole, 5, 54)}},
	{op: graph.BatchNorm, operands: []operand{rows(5, 3, 3), whole(5), whole(5), whole(5),
		whole(5).filledBy(positive)}},
	{op: graph.LayerNorm, attrs: []any{"axes", []int{1}}, operands: []operand{rows(19, 7), whole(7), whole(7)}},
	{op: graph.LayerNorm, name: "channels,", attrs: []any{"axes", []int{0}}, operands: []operand{rows(9, 7)}},
	{op: graph.GroupNorm, attrs: []any{"groups", 2}, operands: []operand{rows(6, 3, 3), whole(6), whole(6)}},
	{op: graph.Add, operands: []operand{rows(5, 3), rows(5, 3)}},
	{op: graph.GlobalAvgPool, operands: []operand{rows(5, 3, 3)}},
	{op: graph.ChannelSum, operands: []operand{rows(5, 3, 3)}},
}

// nanProbes are operations in which an infinity may vanish, but not a NaN. A NaN is not
// greater than anything, so some devices lose it if they compare in the wrong order.
var nanProbes = []probe{
	{op: graph.Relu, operands: []operand{rows(5, 4, 4)}},
	{op: graph.Clip, attrs: []any{"min", -1.0, "max", 1.0}, operands: []operand{rows(5, 4, 4)}},
	{op: graph.MaxPool, attrs: []any{"kernel", []int{2, 2}, "stride", []int{2, 2}},
		operands: []operand{rows(5, 4, 4)}},
	{op: graph.Softmax, operands: []operand{rows(7)}},
	{op: graph.SoftmaxXent, operands: []operand{rows(7), labels(7, -1).filledBy(listedInts(2, 5))}},
}

func finiteCases() []Case {
	var cases []Case
	for _, p := range finiteProbes {
		cases = append(cases, newCase(strings.Replace(p.title()+" non-finite", ":  ", ": ", 1),
			"docs/numerics.md, sections 4 and 5: non-finite operands give non-finite results; "+
				"a row's values don't depend on its neighbours",
			p.program, p.runPoisoned))
	}
	for _, p := range nanProbes {
		cases = append(cases, newCase(fmt.Sprintf("%v: NaN", p.op), "op table: NaN stays NaN",
			p.program,
			func(ctx context.Context, open Opener) error { return p.poisoned(ctx, open, poisons[:1]) }))
	}
	return cases
}

func (p probe) runPoisoned(ctx context.Context, open Opener) error {
	return p.poisoned(ctx, open, poisons)
}

// poisoned puts each value, in turn, into an element of the third row of replica 2
// and checks which results change.
func (p probe) poisoned(ctx context.Context, open Opener, values []float64) error {
	s, err := p.setting()
	if err != nil {
		return err
	}
	m, err := loaded(ctx, open, s)
	if err != nil {
		return err
	}
	defer m.Close()
	clean, err := s.run(ctx, m.x)
	if err != nil {
		return err
	}
	const row, in = 4, 2 // row 2 of replica 2
	size := s.inputs[0].Count() / s.inputs[0].Shape[0]
	for i, v := range values {
		dirty := *s
		dirty.inputs = slices.Clone(s.inputs)
		dirty.inputs[0] = s.inputs[0].Clone()
		dirty.inputs[0].F32()[row*size+(i*7+3)%size] = float32(v)
		got, err := dirty.run(ctx, m.x)
		if err != nil {
			return err
		}
		if err := p.shows(s, got[0], clean[0], row, in); err != nil {
			return fmt.Errorf("%g in row %d: %w", v, row, err)
		}
	}
	return nil
}

// shows checks that got is not finite in the poisoned row or replica, and has the bits
// of clean elsewhere.
func (p probe) shows(s *setting, got, clean tensor.Tensor, row, replica int) error {
	f := s.program.Functions[0]
	at := row
	if f.Values[f.Outputs[0].Value].Type.Kind == graph.Replica {
		at = replica
	}
	for n := range got.Shape[0] {
		block, before := got.Rows(n, n+1), clean.Rows(n, n+1)
		if n != at && !tensor.Equal(block, before) {
			return fmt.Errorf("block %d of the result changed, want block %d only", n, at)
		}
		if n == at && finite(block) {
			return fmt.Errorf("block %d of the result is finite", n)
		}
	}
	return nil
}

func finite(t tensor.Tensor) bool {
	for i := range t.Count() {
		v := 0.0
		if t.DType == tensor.F64 {
			v = t.F64()[i]
		} else {
			v = float64(t.F32()[i])
		}
		if !tensor.IsFinite(v) {
			return false
		}
	}
	return true
}
