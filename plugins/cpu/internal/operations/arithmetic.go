package operations

import (
	"math"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// arithmeticOps compute element by element, and reduce over axes of a row.
var arithmeticOps = map[graph.Op]func(c *plan.Compiler) run.Action{
	graph.Image:      buildImage,
	graph.Add:        buildBinary,
	graph.Sub:        buildBinary,
	graph.Mul:        buildBinary,
	graph.Div:        buildBinary,
	graph.Exp:        func(c *plan.Compiler) run.Action { return elementary(c, tensor.Exp) },
	graph.Log:        func(c *plan.Compiler) run.Action { return elementary(c, tensor.Log) },
	graph.Sqrt:       func(c *plan.Compiler) run.Action { return rounded(c, kernel.Root, math.Sqrt) },
	graph.Affine:     buildAffine,
	graph.ReduceSum:  buildReduce,
	graph.ReduceMean: buildReduce,
	graph.Dropout:    buildDropout,
	graph.Max:        buildBinary,
	graph.Min:        buildBinary,
	graph.Pow:        buildBinary,
	graph.Compare:    buildCompare,
	graph.Where:      buildWhere,
	graph.Round:      buildRound,
	graph.ReduceMax:  buildReduce,
	graph.ReduceMin:  buildReduce,
	graph.ReduceProd: buildReduce,
}

// elementary returns an action for a function that package kernel has for float32. For float64 it uses f.
func elementary(c *plan.Compiler, f func(float64) float64) run.Action {
	if c.In(0).DType == tensor.F64 {
		return unary(c, f)
	}
	return buildActivation(c)
}

// rounded returns an action for a function of package kernel. Its results must equal the results of f in
// float64, rounded to float32.
func rounded(c *plan.Compiler, function kernel.Function, f func(float64) float64) run.Action {
	if c.In(0).DType == tensor.F64 {
		return unary(c, f)
	}
	kernels, definition := c.Kernels(), func(x float32) float32 { return float32(f(float64(x))) }
	return spans(c, func(y []float32, x [][]float32) { kernels.Apply(function, y, x[0], 0, 0, definition) })
}

func buildRound(c *plan.Compiler) run.Action {
	of := map[string]kernel.Function{"floor": kernel.Floor, "ceil": kernel.Ceil, "even": kernel.ToEven}
	return rounded(c, of[c.Node().Text("mode")], class.Rounding(c.Node()))
}

// buildAffine computes product plus sum element by element. It rounds the product, and the sum if there is
// one.
func buildAffine(c *plan.Compiler) run.Action {
	by, add := c.Node().Float("by"), c.Node().Float("add")
	if add == 0 {
		return elementary(c, func(x float64) float64 { return by * x })
	}
	return elementary(c, func(x float64) float64 { return float64(by*x) + add })
}

func buildBinary(c *plan.Compiler) run.Action {
	a, b, y := c.In(0), c.In(1), c.Out(0)
	if y.DType == tensor.F64 {
		return binaryAction(a, b, y, class.Arithmetic(c.Node()), nil)
	}
	do := combination(c.Kernels(), c.Node())
	two := func(y []float32, x [][]float32) { do(y, x[0], x[1]) }
	switch {
	case sameLayout(a, y) && sameLayout(b, y):
		return spans(c, two)
	case c.Node().Op == graph.Mul && y.Last && sameLayout(a, y) && isPerChannel(b, y):
		return scaled(c, a, b)
	case c.Node().Op == graph.Mul && y.Last && sameLayout(a, y) && isPerRowChannel(b, y):
		return scaleByRow(a, b, y)
	case c.Node().Op == graph.Mul && y.Last && sameLayout(b, y) && isPerRowChannel(a, y):
		return scaleByRow(b, a, y)
	}
	if spans := broadcastSpans(c, two, a, b); spans != nil {
		return spans
	}
	return binaryAction(a, b, y, of32(c.Node()), do)
}

// of32 returns the function that computes one element of a node with two operands of float32.
func of32(n *graph.Node) func(a, b float32) float32 {
	f := class.Arithmetic(n)
	return func(a, b float32) float32 { return float32(f(float64(a), float64(b))) }
}

// combination returns the function of package kernel that computes a node for slices of equal length.
func combination(kernels *kernel.Set, n *graph.Node) func(y, a, b []float32) {
	of, ok := map[graph.Op]kernel.Operation{graph.Sub: kernel.Sub, graph.Mul: kernel.Mul,
		graph.Div: kernel.Div, graph.Max: kernel.Max, graph.Min: kernel.Min}[n.Op]
	switch {
	case n.Op == graph.Add:
		return kernels.Add
	case n.Op == graph.Pow:
		return func(y, a, b []float32) { power(kernels, y, a, b) }
	case n.Op == graph.Compare:
		return compared(kernels, n.Text("of"))
	case ok:
		return func(y, a, b []float32) { kernels.Combine(of, y, a, b) }
	}
	panic("cpu: no operation of two elements: " + n.Op.String())
}

// sameLayout reports whether a and y have the same layout in memory.
func sameLayout(a, y *run.Value) bool {
	return a.Kind == y.Kind && a.Count == y.Count && len(a.Shape) == len(y.Shape) && a.Last == y.Last
}

// isPerChannel reports whether b has one element for each channel of y.
func isPerChannel(b, y *run.Value) bool {
	return b.Kind == graph.Whole && len(b.Shape) == len(y.Shape) && b.Count == y.Channels &&
		b.Shape[0] == y.Channels
}

// isPerRowChannel reports whether every row of b has one element for each channel of y.
func isPerRowChannel(b, y *run.Value) bool {
	return b.Kind == graph.Rows && y.Kind == graph.Rows && len(b.Shape) == len(y.Shape) &&
		b.Count == y.Channels && b.Shape[0] == y.Channels
}

// scaleByRow multiplies the channels of each row of x with the elements of that
// row of s, as squeeze and excitation does: see scaled.
func scaleByRow(x, s, y *run.Value) run.Action {
	zeros := kernel.NewAffine(y.Channels)
	for ch := range y.Channels {
		zeros.Set(ch, 0, 0, math.Copysign(0, -1))
	}
	span := func(f *run.Frame, w *run.Worker, i, from, to int) {
		a := zeros
		a.By = f.At(s, w, i)
		from, to = from*y.Channels, to*y.Channels
		f.Kernels.Normalise(f.At(y, w, i)[from:to], f.At(x, w, i)[from:to], a, kernel.Epilogue{})
	}
	return run.BySpan(&run.ByRows{Work: y.Count / 8,
		Spans: run.Spans{Span: span, Positions: y.Positions, Step: 1, Width: y.Channels, Pointwise: true,
			Over: []*run.Value{x}}})
}

// scaled multiplies the channels of x by elements of s, as the gradient of a batch norm with constant
// statistics does. It uses the kernel for normalising, with mean 0 and summand -0, which change no product.
func scaled(c *plan.Compiler, x, s *run.Value) run.Action {
	a := kernel.NewAffine(x.Channels)
	prepare := func(f *run.Frame) error {
		for ch, by := range f.F32(s) {
			a.Set(ch, 0, float64(by), math.Copysign(0, -1))
		}
		return nil
	}
	return normaliseAction(c, x, prepare, func(*run.Frame, int) kernel.Affine { return a })
}

// binaryAction computes y unit by unit. Operands are broadcast to the shape of y. If an operand has fewer
// units, for example one for all rows, it is used for several units of y. If do is not nil, it computes
// contiguous elements.
func binaryAction[T float32 | float64](a, b, y *run.Value, fn func(a, b T) T,
	do func(y, a, b []T)) run.Action {
	strides, strideA, strideB := y.Strides(), broadcast(a, y.Shape), broadcast(b, y.Shape)
	return run.ByUnit(y.Kind, &run.ByRows{Work: y.Count / 8, Row: func(f *run.Frame, w *run.Worker, i, piece,
		pieces int) {
		u, v := layout.View[T](f.Unit(a, w, y.Kind, i)), layout.View[T](f.Unit(b, w, y.Kind, i))
		out := layout.View[T](f.Unit(y, w, y.Kind, i))
		one := new(repeated[T])
		each := func(n, k, p, q, stepK, stepP, stepQ int) {
			if do != nil && n >= fewElements && stepK == 1 && max(stepP, stepQ) == 1 {
				one.eachPart(out[k:k+n], u[p:], v[q:], stepP, stepQ, do)
				return
			}
			for range n {
				out[k] = fn(u[p], v[q])
				k, p, q = k+stepK, p+stepP, q+stepQ
			}
		}
		layout.WalkPiece(y.Shape, strides, strideA, strideB, piece, pieces, each)
	}})
}

// fewElements is the least number of elements that are computed together. Fewer are computed one by one.
const fewElements = 8

// repeated is a buffer for repeating one element of an operand, if the other operand has many elements.
type repeated[T float32 | float64] [256]T

// eachPart calls do for pieces of contiguous elements. An operand with step 0 has one element for all of y.
func (r *repeated[T]) eachPart(y, a, b []T, stepA, stepB int, do func(y, a, b []T)) {
	if stepA == 0 {
		a = r.filled(len(y), a[0])
	}
	if stepB == 0 {
		b = r.filled(len(y), b[0])
	}
	if stepA == stepB {
		do(y, a, b)
		return
	}
	for len(y) > 0 {
		n := min(len(y), len(r))
		do(y[:n], a, b)
		y, a, b = y[n:], a[n*stepA:], b[n*stepB:]
	}
}

// filled returns at most n elements that all have the value v.
func (r *repeated[T]) filled(n int, v T) []T {
	some := r[:min(n, len(r))]
	for i := range some {
		some[i] = v
	}
	return some
}
