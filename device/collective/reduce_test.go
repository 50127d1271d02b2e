package collective

import (
	"math"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// ordered lists the leaves of a sum that depends on the order: adding 1e8 loses small values.
var ordered = []float32{1, 1e8, -1e8, 3, 0.5, 1e8, 7, -1e8}

func scalars(values []float32, absent ...int) func(int) tensor.Tensor {
	return func(r int) tensor.Tensor {
		if slices.Contains(absent, r) {
			return tensor.Tensor{}
		}
		return tensor.Of(values[r:r+1], 1)
	}
}

func TestReduceFollowsTheTree(t *testing.T) {
	v := ordered
	for _, c := range []struct {
		leaves int
		absent []int
		want   float32
	}{
		{1, nil, v[0]},
		{3, nil, (v[0] + v[1]) + v[2]},
		{5, nil, ((v[0] + v[1]) + (v[2] + v[3])) + v[4]},
		{8, nil, ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]))},
		{8, []int{1, 4, 5}, (v[0] + (v[2] + v[3])) + (v[6] + v[7])},
		{8, []int{0, 1, 2, 3, 5, 6, 7}, v[4]},
	} {
		got := Reduce(Sum, Root(c.leaves), scalars(v, c.absent...))
		if got.F32()[0] != c.want {
			t.Errorf("%d leaves without %v: %g, want %g", c.leaves, c.absent, got.F32()[0], c.want)
		}
	}
	if got := Reduce(Sum, Root(2), scalars(v, 0, 1)); !got.IsZero() {
		t.Errorf("a tree without leaves is %v, want no tensor", got)
	}
}

// TestCombineIsReduce distributes replicas over two devices in all ways. Combine gives the bits
// of Reduce.
func TestCombineIsReduce(t *testing.T) {
	const n = 7
	absent := []int{2, 5}
	want := Reduce(Sum, Root(n), scalars(ordered, absent...))
	for set := range 1 << n {
		var parts []Partial
		for device := range 2 {
			var held []int
			for r := range n {
				if set>>r&1 == device {
					held = append(held, r)
				}
			}
			for _, node := range Cover(n, held) {
				parts = append(parts, Partial{node, Reduce(Sum, node, scalars(ordered, absent...))})
			}
		}
		slices.Reverse(parts)
		got, err := Combine(Sum, n, parts)
		if err != nil {
			t.Fatal(err)
		}
		if !tensor.Equal(got, want) {
			t.Errorf("devices of set %b: %g, want %g", set, got.F32(), want.F32())
		}
	}
}

func TestCombineRefuses(t *testing.T) {
	one := tensor.Of([]float32{1}, 1)
	two := tensor.Of([]float32{1, 2}, 2)
	for what, parts := range map[string][]Partial{
		"a leaf that is missing":       {{Node{0, 2}, one}},
		"a leaf that comes twice":      {{Node{0, 2}, one}, {Node{2, 3}, one}, {Node{0, 1}, one}},
		"a node that comes twice":      {{Node{0, 2}, one}, {Node{2, 3}, one}, {Node{2, 3}, one}},
		"a node that is not of a tree": {{Node{0, 1}, one}, {Node{1, 3}, one}},
		"another shape":                {{Node{0, 2}, one}, {Node{2, 3}, two}},
		"another type":                 {{Node{0, 2}, one}, {Node{2, 3}, tensor.New(tensor.F64, 1)}},
	} {
		if got, err := Combine(Sum, 3, parts); err == nil {
			t.Errorf("%s: %v, want an error", what, got)
		}
	}
}

// momentsOf computes moments of one channel in two passes.
func momentsOf(x []float64) []float64 {
	m := []float64{float64(len(x)), 0, 0}
	for _, v := range x {
		m[1] += v / m[0]
	}
	for _, v := range x {
		m[2] += (v - m[1]) * (v - m[1])
	}
	return m
}

func TestMergeIsTheMomentsOfTheUnion(t *testing.T) {
	x := []float64{1000, 1001, 999.5, 1003, 998, 1000.25, 1002, 997}
	for cut := range len(x) + 1 {
		got := make([]float64, 3)
		Merge(got, momentsOf(x[:cut]), momentsOf(x[cut:]))
		want := momentsOf(x)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-13*math.Abs(want[i]) {
				t.Errorf("cut at %d: %v, want %v", cut, got, want)
			}
		}
	}
}

func TestMergeWithNothing(t *testing.T) {
	m, nothing := []float64{3, 5, 7}, []float64{0, 0, 0}
	for _, pair := range [][2][]float64{{m, nothing}, {nothing, m}} {
		got := make([]float64, 3)
		Merge(got, pair[0], pair[1])
		if !slices.Equal(got, m) {
			t.Errorf("merge of %v and %v = %v", pair[0], pair[1], got)
		}
	}
	got := make([]float64, 3)
	Merge(got, nothing, nothing)
	if !slices.Equal(got, nothing) {
		t.Errorf("merge of nothing = %v", got)
	}
}
