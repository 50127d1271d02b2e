package devicetest

import "github.com/bnctl/bnctl/graph"

// broadcasts are pairs of operands for elementwise arithmetic with broadcasting.
var broadcasts = []struct {
	name string
	a, b operand
}{
	{"rows and rows", rows(17, 3, 2), rows(17, 3, 2).filledBy(positive)},
	{"16 channels", rows(16, 4, 4), rows(16, 4, 4).filledBy(positive)},
	{"rows and a channel", rows(5, 3, 2), whole(5, 1, 1).filledBy(positive)},
	{"a last axis and rows", whole(4).filledBy(positive), rows(3, 4).filledBy(positive)},
	{"rows and a scalar", rows(3, 4), whole().filledBy(positive)},
	{"rows and replica", rows(6, 1, 2), replica(3, 1).filledBy(positive)},
	{"replica and whole", replica(2, 3), whole(2, 3).filledBy(positive)},
	{"whole and whole of f64", whole(3, 1).withType(f64), whole(1, 4).withType(f64).filledBy(positive)},
	{"rows and rows that both stretch", rows(3, 1, 2), rows(1, 4, 1).filledBy(positive)},
}

// arithmeticProbes returns the probes of elementwise arithmetic, reductions and broadcasts.
func arithmeticProbes() []probe {
	var p []probe
	for _, c := range broadcasts {
		for _, o := range []graph.Op{graph.Add, graph.Sub, graph.Mul, graph.Div} {
			p = append(p, probe{c.name, o, nil, []operand{c.a, c.b}, rounded})
		}
	}
	return append(append(p, elementProbes...), reduceProbes...)
}

var elementProbes = []probe{
	{"rows", graph.Exp, nil, []operand{rows(5, 7)}, function},
	{"far out", graph.Exp, nil, []operand{rows(8).filledBy(listed(-200, -90, -1e-9, 0, 88, 80, -80, 1))},
		function},
	{"f64", graph.Exp, nil, []operand{whole(9).withType(f64)}, doubled},
	{"rows", graph.Log, nil, []operand{rows(5, 7).filledBy(positive)}, function},
	{"far out", graph.Log, nil, []operand{rows(6).filledBy(listed(0, 1e-38, 1, 1e30, 0.999999, 1.000001))},
		function},
	{"f64", graph.Log, nil, []operand{whole(9).withType(f64).filledBy(positive)}, doubled},
	{"rows", graph.Sqrt, nil, []operand{rows(5, 7).filledBy(positive)}, rounded},
	{"f64", graph.Sqrt, nil, []operand{replica(9).withType(f64).filledBy(positive)}, doubled},
	{"rows", graph.Affine, []any{"by", 0.1, "add", -0.7}, []operand{rows(5, 7)}, rounded},
	{"cancelling", graph.Affine, []any{"by", 0.1, "add", -0.1},
		[]operand{rows(3).filledBy(listed(1, 1.0000001, 0.5))},
		bound{absolute: ulp}},
	{"f64", graph.Affine, []any{"by", 0.1, "add", -0.7}, []operand{whole(7).withType(f64)}, doubled},
	{"whole", graph.Clip, []any{"min", -0.5, "max", 0.5}, []operand{whole(13)}, bits},
	{"replica f64", graph.Clip, []any{"min", -0.5, "max", 0.5}, []operand{replica(13).withType(f64)}, bits},
}

var reduceProbes = []probe{
	{"middle axis", graph.ReduceSum, []any{"axes", []int{1}}, []operand{rows(3, 5, 4)}, products(5)},
	{"outer axes, kept", graph.ReduceSum, []any{"axes", []int{0, 2}, "keep", true}, []operand{rows(3, 5, 4)},
		products(12)},
	{"all axes of whole f64", graph.ReduceSum, []any{"axes", []int{0, 1}}, []operand{whole(3, 5).withType(f64)},
		doubled},
	{"spatial", graph.ReduceMean, []any{"axes", []int{1, 2}, "keep", true}, []operand{rows(16, 7, 7)},
		products(49)},
	{"last axis of replica", graph.ReduceMean, []any{"axes", []int{1}}, []operand{replica(2, 9)}, products(9)},
	{"new and stretched axes", graph.BroadcastTo, []any{"shape", []int{2, 3, 4, 5}},
		[]operand{rows(3, 1, 5)}, bits},
	{"whole scalar", graph.BroadcastTo, []any{"shape", []int{3}}, []operand{whole().withType(f64)}, bits},
	{"5x7", graph.SumRows, nil, []operand{rows(5, 7)}, products(3)},
	{"scalars of f64", graph.SumRows, nil, []operand{rows().withType(f64)}, doubled},
	{"5 channels of 3x7", graph.ChannelSum, nil, []operand{rows(5, 3, 7)}, products(63)},
	{"64 channels", graph.ChannelSum, nil, []operand{rows(64)}, products(3)},
	{"16 channels of 12x12", graph.ChannelSum, nil, []operand{rows(16, 12, 12)}, products(432)},
}
