package cpu

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// regionCases are functions with concatenations that read directly from the operands of slices. For each,
// the number of slices that remain is given.
var regionCases = []struct {
	opCase
	left int
}{
	{opCase{"every other pixel", "", "x rows f32[3,8,6]",
		"a = slice(x, begin=[0,0,0], end=[3,7,6], step=[1,2,1]); " +
			"b = slice(x, begin=[0,1,0], end=[3,8,6], step=[1,2,1]); " +
			"c = slice(a, begin=[0,0,0], end=[3,4,5], step=[1,1,2]); " +
			"d = slice(b, begin=[0,0,1], end=[3,4,6], step=[1,1,2]); " +
			"e = slice(a, begin=[0,0,1], end=[3,4,6], step=[1,1,2]); y = concat(c, d, e, axis=0)"}, 0},
	{opCase{"channels beside what is made of others", "", "x rows f32[9,5,6]",
		"a = slice(x, begin=[0,0,0], end=[4,5,6]); b = slice(x, begin=[4,0,0], end=[9,5,6]); " +
			"c = sigmoid(b); y = concat(a, c, b, axis=0)"}, 1},
	{opCase{"positions", "", "x rows f32[4,5,6]",
		"a = slice(x, begin=[1,0,2], end=[4,5,6]); b = slice(a, begin=[1,2,0], end=[3,5,4]); " +
			"y = concat(b, b, b, axis=1); z = concat(a, a, axis=2)"}, 0},
	{opCase{"halves by turns", "", "x rows f32[12,5,6]",
		"a = slice(x, begin=[0,0,0], end=[6,5,6]); b = slice(x, begin=[6,0,0], end=[12,5,6]); c = tanh(b); " +
			"d = concat(a, c, axis=0); e = reshape(d, shape=[2,6,5,6]); f = transpose(e, perm=[1,0,2,3]); " +
			"y = reshape(f, shape=[12,5,6])"}, 1},
	{opCase{"halves of some pixels by turns", "", "x rows f32[12,5,6]",
		"a = slice(x, begin=[0,1,0], end=[6,5,6]); b = slice(x, begin=[6,0,0], end=[12,4,6]); " +
			"d = concat(a, b, axis=0); e = reshape(d, shape=[2,6,4,6]); f = transpose(e, perm=[1,0,2,3]); " +
			"y = reshape(f, shape=[12,4,6])"}, 1 + 1},
}

// Values read directly from the operand of a slice have the bits of the slice, for any
// division of the rows.
func TestConcatenationsOfRegions(t *testing.T) {
	for _, c := range regionCases {
		p := program(t, opCase{c.name, c.state, c.inputs, strings.ReplaceAll(c.body, "; ", "\n") + "\n"})
		x, err := openSet(t, "auto", 1).Load(context.Background(), p, device.Capacity{Rows: 1, Replicas: 1})
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, n := range runnerOf(x).functions[p.Functions[0].Name].Graph().Nodes {
			if n.Op == graph.Slice {
				left++
			}
		}
		if left != c.left {
			t.Errorf("%s: %d slices are left, want %d", c.name, left, c.left)
		}
		for _, rows := range [][]int{{1}, {4, 7}} {
			want := evaluate(t, ref.New("ref"), p, rows, 0, len(rows))
			for _, threads := range []int{1, 2, 3} {
				got := evaluate(t, openSet(t, "auto", threads), p, rows, 0, len(rows))
				same := func(a, b tensor.Tensor) bool {
					return tensor.Equal(a, b) || strings.Contains(c.body, "(b)") && difference(a, b) < 1e-6
				}
				if !slices.EqualFunc(got, want, same) {
					t.Errorf("%s, rows %v, %d threads: other values than ref's", c.name, rows, threads)
				}
			}
		}
	}
}

// Later outputs use the memory of outputs that are not read any more.
func TestOutputsAgain(t *testing.T) {
	p := program(t, opCase{"", "", "x rows f32[3,40,50]", "y = tanh(x)\n  z = relu(x)\n"})
	ctx := context.Background()
	x, err := openSet(t, "auto", 2).Load(ctx, p, device.Capacity{Rows: 2, Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	step := device.Step{Function: p.Functions[0].Name, Rows: []int{2},
		Inputs: []tensor.Tensor{tensor.New(tensor.F32, 2, 3, 40, 50)}}
	runs := make([][]tensor.Tensor, 3)
	for i := range runs {
		for k := range step.Inputs[0].F32() {
			step.Inputs[0].F32()[k] = float32(i*100+k%7) - 3
		}
		out, err := x.Run(ctx, step)
		if err != nil {
			t.Fatal(err)
		}
		runs[i] = out.Outputs
		if want := max(0, float32(i*100)+3); out.Outputs[1].F32()[6] != want {
			t.Errorf("run %d yields %g, want %g", i, out.Outputs[1].F32()[6], want)
		}
		if i == 1 {
			x.(device.Reuser).Reuse(out.Outputs)
		}
	}
	if &runs[0][1].Bytes[0] == &runs[1][1].Bytes[0] {
		t.Error("the caller's outputs were written over")
	}
	if &runs[1][1].Bytes[0] != &runs[2][1].Bytes[0] {
		t.Error("outputs that nobody reads any more were not used again")
	}
}
