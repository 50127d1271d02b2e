package main

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// moment returns an operand that has the moments of n values for a number of channels.
func moment(o func(...int) operand, channels int, n float64) operand {
	return o(1 + 2*channels).f64().with(momentsOf(n))
}

// normCases returns cases of the parts of batch norm in its three modes, and of the norms of rows.
func normCases() []testCase {
	var all []testCase
	for _, shape := range [][]int{{3, 3, 5}, {2, 9, 9}, {5}} {
		about := fmt.Sprintf("%d channels of %v", shape[0], shape[1:])
		c := shape[0]
		all = append(all, thrice(one(graph.Moments, about, nil, rows(shape...)).of(many))...)
		all = append(all, thrice(one(graph.ChannelSum, about, nil, rows(shape...)).of(many))...)
		all = append(all, one(graph.NormaliseGradSums, "over batch, "+about, []any{"over", "batch"},
			rows(shape...), rows(shape...), moment(whole, c, 36)).of(many),
			one(graph.NormaliseGradSums, "over replica, "+about, []any{"over", "replica"},
				rows(shape...).with(awkward), rows(shape...).with(awkward), moment(replica, c, 8)).of(many))
	}
	all = append(all, one(graph.Moments, "more than a span", nil, rows(1, 66, 65)),
		one(graph.ChannelSum, "more than a span", nil, rows(1, 66, 65).with(spread)),
		one(graph.NormaliseGradSums, "more than a span", nil, rows(1, 66, 65), rows(1, 66, 65), moment(whole, 1,
			12870)),
		one(graph.Moments, "a large mean", nil, rows(2, 7, 11).with(listed(1000, 1000.125, 999.875, 1000.5))),
		one(graph.RunningMoments, "7 channels", nil, whole(7).with(awkward), whole(7).with(positive)),
		one(graph.SelectMoments, "enough values", []any{"min", 2}, moment(replica, 3, 2), moment(whole, 3, -1)),
		one(graph.SelectMoments, "too few values", []any{"min", 3}, moment(replica, 3, 2), moment(whole, 3, -1)),
		one(graph.AllReduce, "sum of f32", nil, replica(3, 5).with(spread)).of(many),
		one(graph.AllReduce, "sum of f64", nil, replica(7).f64().with(spread)).of(many),
		one(graph.AllReduce, "moments", []any{"of", "moments"}, moment(replica, 4, 4)).of(many))
	all = append(all, modes()...)
	return append(all, rowNorms()...)
}

// modes returns cases of normalise and its gradient in the modes sync, replica and frozen, and of batch_norm.
func modes() []testCase {
	var all []testCase
	for _, mode := range []struct {
		about, over string
		o           func(...int) operand
		n           float64
	}{{"sync", "batch", whole, 45}, {"replica", "replica", replica, 12}, {"frozen", "batch", whole, -1}} {
		attrs, m, sums := []any{"eps", 1e-3, "over", mode.over}, moment(mode.o, 3, mode.n), mode.o(6).f64()
		for _, values := range []struct {
			about string
			fill  filler
		}{{"", normal}, {", zeros and subnormals", awkward}, {", infinities and NaN", special}} {
			x := rows(3, 2, 5).with(values.fill)
			all = append(all,
				one(graph.Normalise, mode.about+values.about, attrs, x, m, whole(3), whole(3)),
				one(graph.NormaliseGradInput, mode.about+values.about, attrs, x, x, m, sums, whole(3)))
		}
		all = append(all, one(graph.NormaliseGradParams, mode.about, []any{"eps", 1e-3}, m, sums))
	}
	statistics := []operand{whole(3), whole(3), whole(3), whole(3).with(positive)}
	for about, fill := range map[string]filler{"3 channels of 2x5": normal, "zeros and subnormals": awkward,
		"infinities and NaN": special} {
		all = append(all, one(graph.BatchNorm, about, []any{"eps", 1e-3},
			append([]operand{rows(3, 2, 5).with(fill)}, statistics...)...))
	}
	return append(all,
		one(graph.NormaliseGradParams, "frozen, sums of replicas", []any{"eps", 1e-3}, moment(whole, 3, -1),
			replica(6).f64()),
		one(graph.NormaliseGradParams, "of nothing", []any{"eps", 1e-3}, moment(whole, 3, 0),
			whole(6).f64().with(listed(0))),
		one(graph.BatchNorm, "variance 0", []any{"eps", 1e-5}, rows(2, 3).with(awkward), whole(2), whole(2),
			whole(2),
			whole(2).with(listed(0, 0x1p-149))))
}

// rowNorms returns cases of the norms of single rows, and of their gradients.
func rowNorms() []testCase {
	var all []testCase
	for _, n := range []struct {
		about  string
		shape  []int
		axes   []int
		groups int
	}{
		{"last axis", []int{3, 2, 21}, []int{2}, 0}, {"first axis", []int{7, 3}, []int{0}, 0},
		{"two axes, more than a block", []int{2, 9, 8}, []int{1, 2}, 0}, {"2 groups", []int{4, 3, 5}, nil, 2},
		{"instances", []int{3, 9, 8}, nil, 3},
	} {
		op, grad, attrs := graph.LayerNorm, graph.LayerNormGrad, []any{"axes", n.axes, "eps", 1e-3}
		scale := n.shape[:1]
		if n.groups > 0 {
			op, grad, attrs = graph.GroupNorm, graph.GroupNormGrad, []any{"groups", n.groups, "eps", 1e-3}
		} else {
			scale = n.shape[n.axes[0] : n.axes[len(n.axes)-1]+1]
		}
		x := rows(n.shape...)
		all = append(all, one(op, n.about, attrs, x, whole(scale...), whole(scale...)),
			one(op, n.about+", without scale and bias", attrs, x.with(awkward)),
			one(op, n.about+", bias alone", attrs, x, operand{}, whole(scale...)),
			one(grad, n.about, attrs, x, x), one(grad, n.about+", zeros and subnormals", attrs, x.with(awkward),
				x.with(awkward)),
			one(op, n.about+", infinities and NaN", attrs, x.with(special), whole(scale...), whole(scale...)))
	}
	return all
}
