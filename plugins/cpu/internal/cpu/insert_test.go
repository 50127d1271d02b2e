package cpu

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// insertState is the weights of insertCases.
const insertState = "state p f32[16,24,1,1] constant\nstate q f32[32,16,1,1] constant\n" +
	"state t f32[32,16,3,3] constant\nstate o f32[20,24,3,3] constant\nstate g f32[24,6,3,3] constant\n" +
	"state v f32[224,24,5,5] constant\nstate w f32[48,224,3,3] constant\nstate r f32[8,80,1,1] constant\n"

// insertCases are functions in which some values are stored among the channels of a larger value. Their
// number is given.
var insertCases = []struct {
	opCase
	inserted int
}{
	{opCase{"what SqueezeNet expands", insertState, "x rows f32[24,13,11]",
		"s = conv(x, @p); r = relu(s); a = conv(r, @q); ar = relu(a); b = conv(r, @t, pad=[1,1,1,1]); " +
			"br = relu(b); j = concat(ar, br, x, axis=0); y = relu(j)"}, 2},
	{opCase{"channels that fill no vector", insertState, "x rows f32[24,9,7]",
		"a = conv(x, @o, pad=[1,1,1,1]); b = conv(x, @p); y = concat(a, b, axis=0)"}, 2},
	{opCase{"groups", insertState, "x rows f32[24,9,7]",
		"a = conv(x, @g, pad=[1,1,1,1], groups=4); b = max_pool(x, kernel=[3,3], stride=[1,1], pad=[1,1,1,1]); " +
			"y = concat(a, b, axis=0)"}, 2},
	{opCase{"weights that are too many to be read for every row", insertState, "x rows f32[24,14,14]",
		"a = conv(x, @v, pad=[2,2,2,2], stride=[2,2]); b = conv(a, @w, pad=[1,1,1,1]); " +
			"c = conv(x, @v, pad=[2,2,2,2], stride=[2,2]); y = concat(b, c, a, axis=0)"}, 2},
	{opCase{"a concatenation of concatenations", insertState, "x rows f32[24,9,7]",
		"a = conv(x, @o, pad=[1,1,1,1]); b = conv(x, @p); c = concat(a, b, axis=0); d = conv(x, @p); " +
			"y = concat(x, c, d, axis=0)"}, 3},
	{opCase{"what is computed element by element", insertState, "x rows f32[24,9,7]",
		"a = conv(x, @o, pad=[1,1,1,1]); b = silu(a); c = conv(x, @p); d = hard_swish(c); e = mul(d, c); " +
			"y = concat(b, e, x, axis=0)"}, 2},
	{opCase{"not what is read twice", insertState, "x rows f32[24,9,7]",
		"a = conv(x, @p); b = conv(x, @p); c = add(a, b); y = concat(a, c, b, axis=0)"}, 1},
	{opCase{"not what is a sum with a map", insertState, "x rows f32[16,9,7], z rows f32[32,9,7]",
		"a = conv(x, @q); b = add(a, z); c = relu(b); y = concat(c, x, axis=0)"}, 0},
	{opCase{"not one above the other", insertState, "x rows f32[24,9,7]",
		"a = conv(x, @p); b = conv(x, @p); y = concat(a, b, axis=1)"}, 0},
	{opCase{"what a later layer reads by parts", insertState, "x rows f32[16,40,40]",
		"a = conv(x, @q); b = conv(x, @q); c = concat(a, b, x, axis=0); y = conv(c, @r)"}, 2},
}

// A value that is computed in place for a concatenation has the same bits as in separate
// memory.
func TestInserted(t *testing.T) {
	for _, c := range insertCases {
		p := program(t, opCase{c.name, c.state, c.inputs, strings.ReplaceAll(c.body, "; ", "\n") + "\n"})
		if n := insertedIn(t, p); n != c.inserted {
			t.Errorf("%s: %d values inserted, want %d", c.name, n, c.inserted)
		}
		apart := oneByOne(t, p)
		if n := insertedIn(t, apart); n != 0 {
			t.Errorf("%s: %d values inserted though all are results", c.name, n)
		}
		for _, rows := range [][]int{{1}, {4, 7}} {
			want := evaluate(t, ref.New("ref"), p, rows, 0, len(rows))[0]
			for _, kernels := range []string{"auto", "generic"} {
				single := evaluate(t, openSet(t, kernels, 1), apart, rows, 0, len(rows))[0]
				if d := difference(single, want); !(d < 1e-3) {
					t.Errorf("%s, rows %v: differs from ref by %.2g", c.name, rows, d)
				}
				for _, threads := range []int{1, 2, 3} {
					got := evaluate(t, openSet(t, kernels, threads), p, rows, 0, len(rows))[0]
					if !tensor.Equal(got, single) {
						t.Errorf("%s, rows %v, %s, %d threads: other bits than node by node", c.name, rows, kernels, threads)
					}
				}
			}
		}
	}
}

// insertedIn returns the number of values of a program's function that are stored among the
// channels of another.
func insertedIn(t *testing.T, p *graph.Program) (n int) {
	t.Helper()
	f := compiled(t, p)
	for i := range f.Graph().Values {
		if f.Value(graph.Value(i)).IsInserted() {
			n++
		}
	}
	return n
}
