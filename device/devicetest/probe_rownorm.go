package devicetest

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// rowNorm is a norm of each row.
type rowNorm struct {
	shape  []int
	axes   []int // nil: groups
	groups int
}

// rowNorms are norms of each row: layer norms over axes, and group norms. They differ in how the
// normalised elements are arranged in memory; some have more elements than a span of package class.
var rowNorms = []rowNorm{
	{[]int{18, 2, 35}, []int{2}, 0}, {[]int{7, 3, 21}, []int{2}, 0}, {[]int{5, 4, 9}, []int{1, 2}, 0},
	{[]int{19, 5, 7}, []int{0}, 0}, {[]int{66, 9}, []int{0}, 0}, {[]int{3, 8, 5}, []int{1}, 0},
	{[]int{2, 3, 5}, []int{0, 1}, 0}, {[]int{77}, []int{0}, 0}, {[]int{3, 4, 6}, []int{0, 1, 2}, 0},
	{[]int{1, 3, 1}, []int{2}, 0}, {[]int{1, 66, 65}, []int{1, 2}, 0},
	{[]int{12, 5, 7}, nil, 4}, {[]int{12, 3, 2}, nil, 12}, {[]int{21, 9, 9}, nil, 3}, {[]int{6, 3}, nil, 1},
	{[]int{18}, nil, 6}, {[]int{1, 66, 65}, nil, 1},
}

// rowNormProbes returns probes of norms of values and of their gradients, with a bound. Every fourth
// norm has an additional probe without scale and bias.
func rowNormProbes(norms []rowNorm, tol bound, values filler, suffix string) []probe {
	var all []probe
	for i, n := range norms {
		name := fmt.Sprintf("%v, axes %v", n.shape, n.axes)
		op, grad, attrs := graph.LayerNorm, graph.LayerNormGrad, []any{"axes", n.axes, "eps", 1e-3}
		scale := n.shape[:1]
		if n.axes == nil {
			name = fmt.Sprintf("%v, %d groups", n.shape, n.groups)
			op, grad, attrs = graph.GroupNorm, graph.GroupNormGrad, []any{"groups", n.groups, "eps", 1e-3}
		} else {
			scale = n.shape[n.axes[0]:][:len(n.axes)]
		}
		name += suffix
		x := rows(n.shape...).filledBy(values)
		all = append(all,
			probe{name, op, attrs, []operand{x, whole(scale...), whole(scale...)}, tol},
			probe{name, grad, attrs, []operand{x, rows(n.shape...)}, tol})
		if i%4 == 0 {
			all = append(all, probe{name + ", bare", op, attrs, []operand{x}, tol})
		}
	}
	return all
}

// rowNormEdges returns probes that compare the bits of all norms on values of all sizes, on
// some values that are not finite, on lines and groups with variance 0, and on values with
// squares or sums that float32 cannot hold.
func rowNormEdges() []probe {
	some := []rowNorm{rowNorms[0], rowNorms[3], rowNorms[11]}
	return slices.Concat(rowNormProbes(rowNorms, bits, spread, ""),
		rowNormProbes(some, bits, special, ", NaN, infinities"),
		rowNormProbes(some, bits, listed(3), ", variance 0"),
		rowNormProbes(some, bits, huge, ", huge"), rowNormProbes(some, bits, largest, ", largest"))
}
