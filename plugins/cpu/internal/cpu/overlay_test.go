package cpu

import (
	"context"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// overCases are functions with the given number of results that overwrite an operand.
var overCases = []struct {
	opCase
	over int
}{
	{opCase{"an activation behind a convolution", "state d f32[8,1,3,3] constant\n", "x rows f32[8,9,7]",
		"a = conv(x, @d, pad=[1,1,1,1], groups=8); y = silu(a); z = conv(y, @d, pad=[1,1,1,1], groups=8)"}, 1},
	{opCase{"a chain of them", "state d f32[8,1,3,3] constant\n", "x rows f32[8,9,7]",
		"a = conv(x, @d, pad=[1,1,1,1], groups=8); b = sigmoid(a); c = tanh(b); e = exp(c); " +
			"y = conv(e, @d, pad=[1,1,1,1], groups=8)"}, 3},
	{opCase{"squeeze and excitation",
		"state d f32[24,1,3,3] constant\nstate s f32[8,24,1,1] constant\nstate e f32[24,8,1,1] constant\n" +
			"state p f32[16,24,1,1] constant\n", "x rows f32[24,9,7]",
		"a = conv(x, @d, pad=[1,1,1,1], groups=24); b = hard_swish(a); g = global_avg_pool(b); s = conv(g, @s); " +
			"r = silu(s); e = conv(r, @e); h = hard_sigmoid(e); m = mul(b, h); y = conv(m, @p)"}, 4},
	{opCase{"not what is read once more", "state d f32[8,1,3,3] constant\n", "x rows f32[8,9,7]",
		"a = conv(x, @d, pad=[1,1,1,1], groups=8); b = sigmoid(a); c = mul(a, b); " +
			"y = conv(c, @d, pad=[1,1,1,1], groups=8)"}, 1},
	{opCase{"not what the chain reads beside it", "state d f32[8,1,3,3] constant\n", "x rows f32[8,9,7]",
		"a = conv(x, @d, pad=[1,1,1,1], groups=8); b = conv(a, @d, pad=[1,1,1,1], groups=8); c = mul(b, a); " +
			"y = conv(c, @d, pad=[1,1,1,1], groups=8)"}, 1},
	{opCase{"where a result lies what it is made of, and no input", "", "x rows f32[8,9,7]",
		"y = sigmoid(x); z = tanh(y)"}, 1},
	{opCase{"twice the same operand", "state d f32[8,1,3,3] constant\n", "x rows f32[8,9,7]",
		"a = conv(x, @d, pad=[1,1,1,1], groups=8); b = mul(a, a); y = conv(b, @d, pad=[1,1,1,1], groups=8)"}, 1},
}

// A result that overwrites an operand has the same bits as in separate memory.
func TestResultsOverOperands(t *testing.T) {
	for _, c := range overCases {
		p := program(t, opCase{c.name, c.state, c.inputs, strings.ReplaceAll(c.body, "; ", "\n") + "\n"})
		if n := overOf(t, p); n != c.over {
			t.Errorf("%s: %d results lie over operands, want %d", c.name, n, c.over)
		}
		apart := oneByOne(t, p)
		if n := overOf(t, apart); n != 0 {
			t.Errorf("%s: %d results lie over operands though all are results", c.name, n)
		}
		for _, rows := range [][]int{{1}, {4, 7}} {
			want := evaluate(t, ref.New("ref"), p, rows, 0, len(rows))[0]
			single := evaluate(t, openSet(t, "auto", 1), apart, rows, 0, len(rows))[0]
			if d := difference(single, want); !(d < 1e-3) {
				t.Errorf("%s, rows %v: differs from ref by %.2g", c.name, rows, d)
			}
			for _, threads := range []int{1, 2, 3} {
				if got := evaluate(t, openSet(t, "auto", threads), p, rows, 0, len(rows))[0]; !tensor.Equal(got, single) {
					t.Errorf("%s, rows %v, %d threads: other bits than node by node", c.name, rows, threads)
				}
			}
		}
	}
}

// overOf returns the number of values of a program's function that overwrite another.
func overOf(t *testing.T, p *graph.Program) (n int) {
	t.Helper()
	f := compiled(t, p)
	for i := range f.Graph().Values {
		if f.Value(graph.Value(i)).IsOverOperand() {
			n++
		}
	}
	return n
}

// compiled returns the only function of a program, compiled by a device.
func compiled(t *testing.T, p *graph.Program) *run.Function {
	t.Helper()
	x, err := openSet(t, "auto", 1).Load(context.Background(), p, device.Capacity{Rows: 1, Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	return runnerOf(x).functions[p.Functions[0].Name]
}
