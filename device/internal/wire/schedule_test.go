package wire

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// scheduled returns a function with three exchanges: number 0 of lane Moments, of a and b; number 0
// of lane Gradients, of c; and number 1 of lane Moments, of d.
func scheduled(t *testing.T) *graph.Function {
	b := graph.NewBuilder("train", &[]graph.State{})
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{2}})
	sum := func(name string) graph.Value { return b.Op(graph.ChannelSum, name, []graph.Value{x}) }
	all := func(v graph.Value, name string) graph.Value {
		return b.Op(graph.AllReduce, name+".all", []graph.Value{v})
	}
	a, m := sum("a"), b.Op(graph.Moments, "b", []graph.Value{x})
	read := all(a, "a")
	b.Output("b", b.Op(graph.AllReduce, "b.all", []graph.Value{m}, "of", "moments"), false)
	b.Output("c", all(sum("c"), "c"), false)
	d := sum("d")
	z := b.Op(graph.Add, "z", []graph.Value{x, read})
	b.Output("y", b.Op(graph.Add, "y", []graph.Value{z, all(d, "d")}), false)
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

type done struct {
	lane     collective.Lane
	sequence uint64
	name     string
	values   []collective.Reduction
}

func value(op collective.Op, d tensor.DType, shape ...int) collective.Reduction {
	return collective.Reduction{Op: op, Result: tensor.New(d, shape...)}
}

// TestScheduleNamesWhatIsNotDue checks that exchanges are compared with the function of the run.
// The error names the first unexpected exchange and the exchange that was due.
func TestScheduleNamesWhatIsNotDue(t *testing.T) {
	const step = 9
	pair := []collective.Reduction{value(collective.Sum, tensor.F32, 2),
		value(collective.MergeMoments, tensor.F64, 5)}
	one := []collective.Reduction{value(collective.Sum, tensor.F32, 2)}
	first, gradient, second := done{0, 0, "a", pair}, done{1, 0, "c", one}, done{0, 1, "d", one}
	for _, c := range []struct {
		done []done
		says string
	}{
		{[]done{first, gradient, second}, ""},
		{[]done{first, second, gradient}, ""}, // each lane has an independent order
		{[]done{gradient, first, second}, ""},
		{[]done{{0, 1, "a", pair}}, `exchange "a" came with sequence 1 in LANE_MOMENTS; due is sequence 0`},
		{[]done{first, {0, 2, "d", one}}, `exchange "d" came with sequence 2 in LANE_MOMENTS; due is sequence 1`},
		{[]done{first, {0, 0, "d", one}}, `exchange "d" came with sequence 0 in LANE_MOMENTS; due is sequence 1`},
		{[]done{first, {0, 1, "c", one}},
			`exchange "c" came in LANE_MOMENTS; it belongs in LANE_GRADIENTS, since no node of the function reads`},
		{[]done{{1, 0, "a", pair}},
			`exchange "a" came in LANE_GRADIENTS; it belongs in LANE_MOMENTS, since a node of the function reads`},
		{[]done{{0, 0, "d", one}}, `exchange "d" came with sequence 0 in LANE_MOMENTS; due is "a" with sequence 0`},
		{[]done{gradient, {1, 1, "c", one}}, `exchange "c" came as number 2 in LANE_GRADIENTS; the function has 1 there`},
		{[]done{{0, 0, "a", one}}, `exchange "a" came with 1 values; due are 2`},
		{[]done{{0, 0, "a", []collective.Reduction{pair[1], pair[0]}}},
			`exchange "a": value 0 came as REDUCTION_MERGE_MOMENTS; due is REDUCTION_SUM`},
		{[]done{gradient, {0, 0, "a", []collective.Reduction{value(collective.Sum, tensor.F32, 3), pair[1]}}},
			`exchange "a": value 0 came as f32[3]; due is f32[2]`},
		{[]done{first, second}, `the run ended without exchange "c", which was due with sequence 0 in LANE_GRADIENTS`},
		{[]done{gradient, first}, `the run ended without exchange "d", which was due with sequence 1 in LANE_MOMENTS`},
		{[]done{{2, 0, "a", pair}}, `exchange "a" came in lane 2`},
	} {
		progress := ScheduleOf(scheduled(t)).Begin(step)
		var err error
		for _, x := range c.done {
			if err == nil {
				tag := collective.Tag{Step: step, Lane: x.lane, Sequence: x.sequence, Name: x.name}
				err = progress.Next(tag, x.values)
			}
		}
		if err == nil {
			err = progress.Left()
		}
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%v: %v, want %q", c.done, err, c.says)
		}
	}
	progress := ScheduleOf(scheduled(t)).Begin(step)
	err := progress.Next(collective.Tag{Step: 8, Name: "a"}, pair)
	if want := `exchange "a" came with step 8 in its tag; this is the run of step 9`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
