package cpu

import (
	"context"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// farCases are functions with images so large that they pass through several nodes some rows at a time. The
// nodes have the results y, z and so on. tilings is the number of chains of nodes that do that, and rings
// the number of their results that are kept in a ring buffer.
var farCases = []struct {
	opCase
	tilings, rings int
}{
	{opCase{"expand, depthwise, project, add",
		"state e f32[96,16,1,1] constant\nstate d f32[96,1,3,3] constant\nstate p f32[16,96,1,1] constant\n",
		"x rows f32[16,42,45]",
		"a = conv(x, @e); b = relu6(a); c = conv(b, @d, pad=[1,1,1,1], groups=96); r = relu6(c); " +
			"q = conv(r, @p); y = add(q, x)"}, 1, 2},
	{opCase{"activations that are nodes of their own",
		"state e f32[96,16,1,1] constant\nstate d f32[96,1,3,3] constant\nstate p f32[16,96,1,1] constant\n",
		"x rows f32[16,42,45]",
		"a = conv(x, @e); b = silu(a); c = conv(b, @d, pad=[1,1,1,1], groups=96); s = sigmoid(c); " +
			"r = mul(c, s); q = conv(r, @p); y = add(q, x)"}, 1, 4},
	{opCase{"what is added to the result is kept whole",
		"state e f32[96,16,1,1] constant\nstate d f32[96,1,3,3] constant\nstate f f32[96,96,1,1] constant\n",
		"x rows f32[16,42,45]",
		"a = conv(x, @e); c = conv(a, @d, pad=[1,1,1,1], groups=96); q = conv(c, @f); y = add(q, c)"}, 1, 1},
	{opCase{"stride 2, and a wide kernel behind it",
		"state e f32[80,8,1,1] constant\nstate d f32[80,1,3,3] constant\nstate w f32[80,1,5,5] constant\n",
		"x rows f32[8,61,60]",
		"a = conv(x, @e); c = conv(a, @d, pad=[1,1,1,1], stride=[2,2], groups=80); " +
			"y = conv(c, @w, pad=[2,2,2,2], groups=80)"}, 1, 1},
	{opCase{"a stem: bytes, three channels, pooling",
		"state k f32[32,3,3,3] constant\nstate p f32[24,32,1,1] constant\n",
		"x rows u8[64,70,3]",
		"i = image(x, scale=0.00390625); a = conv(i, @k, pad=[1,1,1,1]); " +
			"b = max_pool(a, kernel=[3,3], stride=[2,2], pad=[1,1,1,1]); y = conv(b, @p)"}, 1, 2},
	{opCase{"windows and direct convolutions see more than their own pixels",
		"state e f32[72,16,1,1] constant\nstate k f32[16,72,3,3] constant\nstate m f32[72,16,1,1] constant\n" +
			"state s f32[24,72,3,3] constant\n",
		"x rows f32[16,52,46]",
		"a = conv(x, @e); b = conv(a, @k, pad=[1,1,1,1]); c = conv(b, @m); y = conv(c, @s, stride=[2,2])"}, 2, 1},
	{opCase{"a branch between, of other positions than the last, is not computed in part",
		"state e f32[64,16,1,1] constant\nstate f f32[24,16,1,1] constant\nstate k f32[16,64,3,3] constant\n",
		"x rows f32[16,48,48]",
		"a = conv(x, @e); b = conv(x, @f); z = sigmoid(b); y = conv(a, @k, pad=[1,1,1,1], stride=[2,2])"}, 0, 0},
	{opCase{"the operand of the chain is larger than any cache",
		"state e f32[24,8,1,1] constant\nstate d f32[24,1,3,3] constant\nstate p f32[8,24,1,1] constant\n",
		"x rows f32[8,183,190]",
		"a = conv(x, @e); c = conv(a, @d, pad=[1,1,1,1], stride=[2,2], groups=24); y = conv(c, @p)"}, 1, 2},
	{opCase{"what is read later is kept whole",
		"state e f32[96,16,1,1] constant\nstate d f32[96,1,3,3] constant\n",
		"x rows f32[16,42,45]",
		"a = conv(x, @e); c = conv(a, @d, pad=[1,1,1,1], groups=96); s = sigmoid(c); y = add(s, a)"}, 0, 0},
}

// TestTilings checks nodes through which an image passes some rows at a time. They must give the same bits
// as nodes that run one after the other, for any number of workers, and agree with ref.
func TestTilings(t *testing.T) {
	for _, c := range farCases {
		body := strings.ReplaceAll(c.body, "; ", "\n") + "\n"
		p := program(t, opCase{c.name, c.state, c.inputs, body})
		apart := oneByOne(t, p)
		if n, rings := tilingsOf(t, p); n != c.tilings || rings != c.rings {
			t.Errorf("%s: %d chains go ahead, want %d; %d rings, want %d", c.name, n, c.tilings, rings, c.rings)
		}
		if n, rings := tilingsOf(t, apart); n != 0 || rings != 0 {
			t.Errorf("%s: %d chains go ahead and have %d rings though all values are results", c.name, n, rings)
		}
		for _, rows := range [][]int{{1}, {3}, {4, 7}} {
			want := evaluate(t, ref.New("ref"), p, rows, 0, len(rows))[0]
			single := evaluate(t, openSet(t, "auto", 1), apart, rows, 0, len(rows))[0]
			if d := difference(single, want); !(d < 1e-3) {
				t.Errorf("%s, rows %v: differs from ref by %.2g", c.name, rows, d)
			}
			for _, threads := range []int{1, 2, 3} {
				got := evaluate(t, openSet(t, "auto", threads), p, rows, 0, len(rows))[0]
				if !tensor.Equal(got, single) {
					t.Errorf("%s, rows %v, %d threads: other bits than node by node", c.name, rows, threads)
				}
			}
		}
		rows := []int{1}
		want := evaluate(t, ref.New("ref"), p, rows, 0, 1)[0]
		if d := difference(evaluate(t, openSet(t, "generic", 2), p, rows, 0, 1)[0], want); !(d < 1e-3) {
			t.Errorf("%s: the generic kernels differ from ref by %.2g", c.name, d)
		}
	}
}

// oneByOne returns p with the values of all nodes as additional results. Its nodes then cannot be fused or
// tiled.
func oneByOne(t *testing.T, p *graph.Program) *graph.Program {
	t.Helper()
	q, fn := *p, p.Functions[0].Clone()
	for i, n := range fn.Nodes {
		fn.Outputs = append(fn.Outputs, graph.Output{Name: fn.NodeName(&fn.Nodes[i]) + ".kept", Value: n.Out[0]})
	}
	q.Functions = []*graph.Function{fn}
	return &q
}

// tilingsOf returns the number of chains of a program's function that are tiled, and the number of values
// that are stored in rings.
func tilingsOf(t *testing.T, p *graph.Program) (tilings, rings int) {
	t.Helper()
	x, err := openSet(t, "auto", 1).Load(context.Background(), p, device.Capacity{Rows: 1, Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := runnerOf(x)
	f := r.functions[p.Functions[0].Name]
	for _, line := range f.Explain(r.backend.machine.Schedule) {
		if strings.Contains(line, ", tiled in ") {
			tilings++
		}
	}
	for i := range f.Graph().Values {
		if f.Value(graph.Value(i)).Ring > 0 {
			rings++
		}
	}
	return tilings, rings
}
