package class

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Arithmetic returns the function of two float64 that defines an elementwise node with two operands.
// If the node has type float32, the result is rounded once.
func Arithmetic(n *graph.Node) func(a, b float64) float64 {
	switch n.Op {
	case graph.Add:
		return func(a, b float64) float64 { return a + b }
	case graph.Sub:
		return func(a, b float64) float64 { return a - b }
	case graph.Mul:
		return func(a, b float64) float64 { return a * b }
	case graph.Div:
		return func(a, b float64) float64 { return a / b }
	case graph.Max:
		return func(a, b float64) float64 { return max(a, b) }
	case graph.Min:
		return func(a, b float64) float64 { return min(a, b) }
	case graph.Pow:
		return tensor.Pow
	}
	holds := comparison(n.Text("of"))
	return func(a, b float64) float64 { return either(holds(a, b), 1, 0) }
}

// comparison returns the function for the attribute "of" of Compare.
func comparison(relation string) func(a, b float64) bool {
	switch relation {
	case "equal":
		return func(a, b float64) bool { return a == b }
	case "not_equal":
		return func(a, b float64) bool { return a != b }
	case "greater":
		return func(a, b float64) bool { return a > b }
	case "greater_equal":
		return func(a, b float64) bool { return a >= b }
	case "less":
		return func(a, b float64) bool { return a < b }
	}
	return func(a, b float64) bool { return a <= b }
}

// Rounding returns the function of a Round node.
func Rounding(n *graph.Node) func(float64) float64 {
	switch n.Text("mode") {
	case "floor":
		return math.Floor
	case "ceil":
		return math.Ceil
	}
	return math.RoundToEven
}

// Reduction returns the start value of a reduction in float64, and the function that combines
// the value so far, acc, with the next number, v.
func Reduction(o graph.Op) (first float64, add func(acc, v float64) float64) {
	switch o {
	case graph.ReduceMax:
		return math.Inf(-1), func(acc, v float64) float64 { return max(acc, v) }
	case graph.ReduceMin:
		return math.Inf(1), func(acc, v float64) float64 { return min(acc, v) }
	case graph.ReduceProd:
		return 1, func(acc, v float64) float64 { return acc * v }
	}
	return 0, func(acc, v float64) float64 { return acc + v }
}
