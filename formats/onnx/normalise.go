package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"ReduceL1": {attributes: accept(2, reduceAttributes), make: oneResult(reduceOf), fold: fold.ReduceL1,
			batch: batchaxis.Reduced, traits: hasSettings | onWeights},
		"ReduceL2": {attributes: accept(2, reduceAttributes), make: oneResult(reduceOf), fold: fold.ReduceL2,
			batch: batchaxis.Reduced, traits: hasSettings | onWeights},
		"ReduceSumSquare": {attributes: accept(2, reduceAttributes), make: oneResult(reduceOf),
			fold: fold.ReduceSumSquare, batch: batchaxis.Reduced, traits: onWeights},
		"ReduceLogSum": {attributes: accept(2, reduceAttributes), make: oneResult(reduceOf),
			fold:  fold.ReduceLogSum,
			batch: batchaxis.Reduced},
		"ReduceLogSumExp": {attributes: accept(2, reduceAttributes), make: oneResult(reduceOf)},
		// stash_type is the type of the moments during the computation
		"LayerNormalization": {attributes: accept(3, "axis epsilon", "stash_type"), make: layerNorms,
			batch: batchaxis.LayerNorm},
		"GroupNormalization": {attributes: accept(3, "epsilon num_groups", "stash_type"),
			make:   oneResult(groupNorm),
			traits: needsBatch},
		"InstanceNormalization": {attributes: accept(3, "epsilon", "consumed_inputs"),
			make:   oneResult(instanceNorm),
			traits: needsBatch},
		"LpNormalization": {attributes: accept(1, "axis p"), make: oneResult(lpNorm), batch: batchaxis.AlongOther},
	})
}

// addAffine multiplies by operand 1 and adds operand 2, both in the given
// shape.
func addAffine(c *call, v graph.Value, shape []int) graph.Value {
	if !c.Has(2) {
		return c.node(graph.Mul, "", []graph.Value{v, c.state(1, c.learned(1, factor), shape...)})
	}
	v = c.node(graph.Mul, ".scaled", []graph.Value{v, c.state(1, c.learned(1, factor), shape...)})
	return c.node(graph.Add, "", []graph.Value{v, c.state(2, c.learned(2, added), shape...)})
}

// readEpsilon returns the number that is added to the variance.
func readEpsilon(c *call) float64 {
	eps := shortest(c.Float("epsilon", 1e-5))
	if !(eps >= 0) || math.IsInf(eps, 0) {
		c.Fail("its epsilon is %v, want 0 or more", eps)
	}
	if !c.Has(1) {
		c.Fail("operand 1 is absent")
	}
	return eps
}

// declareScaleAndBias declares operands 1 and 2 in the given shape, and returns
// graph.None for absent ones.
func declareScaleAndBias(c *call, shape []int) []graph.Value {
	in := []graph.Value{c.Dynamic(0), graph.None, graph.None}
	for i, role := range []graph.Role{graph.Gamma, graph.Beta} {
		if c.Has(1 + i) {
			in[1+i] = c.state(1+i, role, shape...)
		}
	}
	return in
}

// layerNorms reads a layer norm over an axis and all later axes. It also returns the mean
// and the inverse of the deviation if nodes read them. A scale or bias with another shape
// than these axes is applied afterwards.
func layerNorms(c *call) []node.Value {
	out := node.Rows(layerNorm(c))
	if len(c.Proto.Output) < 2 || c.Err != nil {
		return []node.Value{out}
	}
	s := c.Shape(0)
	var over []int
	for a := c.Axis(int64(c.Int("axis", -1)), len(s)); a < len(s); a++ {
		over = append(over, a)
	}
	average := func(suffix string, x graph.Value) graph.Value {
		return c.node(graph.ReduceMean, suffix, []graph.Value{x}, "axes", over, "keep", true)
	}
	mean := average(".mean", c.Dynamic(0))
	around := c.node(graph.Sub, ".around", []graph.Value{c.Dynamic(0), mean})
	variance := average(".variance", c.node(graph.Mul, ".squares", []graph.Value{around, around}))
	above := c.node(graph.Affine, ".above", []graph.Value{variance}, "add", readEpsilon(c))
	deviation := c.node(graph.Sqrt, ".deviation", []graph.Value{above})
	inverse := c.node(graph.Div, ".inverse", []graph.Value{c.number("one", 1), deviation})
	return []node.Value{out, node.Rows(mean), node.Rows(inverse)}
}

func layerNorm(c *call) graph.Value {
	s, eps := c.Shape(0), readEpsilon(c)
	axis := c.Axis(int64(c.Int("axis", -1)), len(s))
	if c.Err != nil {
		return graph.None
	}
	var over []int
	for a := axis; a < len(s); a++ {
		over = append(over, a)
	}
	fits := true
	for i := 1; i < 3; i++ {
		t, ok := c.Constant(i)
		shape := c.aligned(t.Shape, c.Rank(0))
		if c.Err != nil {
			return graph.None
		}
		if full, err := graph.Broadcast(s, shape); ok && (err != nil || !slices.Equal(full, s)) {
			c.Fail("its scale or bias is %v for %v", t, s)
			return graph.None
		}
		fits = fits && (!ok || slices.Equal(withoutOnes(shape, len(over)), s[axis:]))
	}
	if fits {
		return c.node(graph.LayerNorm, "", declareScaleAndBias(c, s[axis:]), "axes", over, "eps", eps)
	}
	scale, _ := c.Constant(1)
	if shift, ok := c.Constant(2); ok && shift.Count() != scale.Count() {
		c.Fail("its scale is %v, its bias %v", scale, shift)
	}
	shape := c.aligned(scale.Shape, c.Rank(0))
	v := c.node(graph.LayerNorm, ".normalised", []graph.Value{c.Dynamic(0)}, "axes", over, "eps", eps)
	return addAffine(c, v, shape)
}

// withoutOnes removes axes of length 1 from the front of a shape, until it has
// no more than rank axes.
func withoutOnes(shape []int, rank int) []int {
	for len(shape) > rank && shape[0] == 1 {
		shape = shape[1:]
	}
	return shape
}

// groupNorm normalises groups of channels. Up to operator set 20, scale and bias have one
// element for each group.
func groupNorm(c *call) graph.Value {
	s, groups, eps := c.Shape(0), c.Int("num_groups", 0), readEpsilon(c)
	if c.Err == nil && (len(s) < 2 || groups < 1 || s[0]%groups != 0) {
		c.Fail("of %v in %d groups", s, groups)
	}
	if c.Err != nil {
		return graph.None
	}
	if c.Opset >= 21 || groups == s[0] {
		return c.node(graph.GroupNorm, "", declareScaleAndBias(c, s[:1]), "groups", groups, "eps", eps)
	}
	v := c.node(graph.GroupNorm, ".normalised", []graph.Value{c.Dynamic(0)}, "groups", groups, "eps", eps)
	v = c.node(graph.Reshape, ".groups", []graph.Value{v}, "shape", []int{groups, tensor.Count(s) / groups})
	v = addAffine(c, v, []int{groups, 1})
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", s)
}

// instanceNorm normalises each channel. It leaves out scales of 1 and biases of 0, which PyTorch writes
// for a group norm between two Reshapes.
func instanceNorm(c *call) graph.Value {
	s, eps := c.Shape(0), readEpsilon(c)
	if c.Err == nil && len(s) < 2 {
		c.Fail("of %v", s)
	}
	if c.Err != nil {
		return graph.None
	}
	in := []graph.Value{c.Dynamic(0)}
	if c.isParameter(1) || c.isParameter(2) || !isFilled(c, 1, s[0], 1) || !isFilled(c, 2, s[0], 0) {
		in = declareScaleAndBias(c, s[:1])
	}
	return c.node(graph.GroupNorm, "", in, "groups", s[0], "eps", eps)
}

// isFilled reports whether operand i is a constant of n floats that all equal v.
func isFilled(c *call, i, n int, v float32) bool {
	t, ok := c.Constant(i)
	if !ok || t.DType != tensor.F32 || t.Count() != n {
		return false
	}
	return !slices.ContainsFunc(t.F32(), func(x float32) bool { return x != v })
}

// normRoles sets the roles of the scale and the bias of a norm that consists of several nodes. They are
// the roles in an operator for that norm, so that both are trained.
func (r *reader) normRoles(f *graph.Function) {
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op != graph.LayerNorm && n.Op != graph.GroupNorm {
			continue
		}
		for k, v := range n.In[1:] {
			if v != graph.None {
				r.trains(f.Values[v].State, []graph.Role{graph.Gamma, graph.Beta}[k])
			}
		}
	}
}

// trains sets the role of a constant that the model stores.
func (r *reader) trains(name string, role graph.Role) {
	for i := range r.table {
		if s := &r.table[i]; s.Name == name && s.Role == graph.Constant {
			s.Role, s.Init = role, initOf(role)
		}
	}
}

// lpNorm divides by the sum of absolute values, or by the root of the sum of squares, along an axis. If
// the sum is zero, the result is zero.
func lpNorm(c *call) graph.Value {
	s, p := c.Shape(0), c.Int("p", 2)
	axis := c.Axis(int64(c.Int("axis", -1)), len(s))
	if p != 1 && p != 2 {
		c.Fail("with p=%d", p)
	}
	if c.Err != nil {
		return graph.None
	}
	sum := func(suffix string, v graph.Value) graph.Value {
		return c.node(graph.ReduceSum, ".sum"+suffix, []graph.Value{v}, "axes", []int{axis}, "keep", true)
	}
	x, size := c.Dynamic(0), graph.None
	if p == 1 {
		size = sum("", makeAbsolute(c, ".size"))
	} else {
		size = norm{2, ".squares", ".norm", sum}.add(c, x)
	}
	size = c.node(graph.Clip, ".some", []graph.Value{size}, "min", 1e-38, "max", math.Inf(1))
	return c.node(graph.Div, "", []graph.Value{x, size})
}

// reduceOf reads the reductions that consist of a sum and other operations: ReduceL1, ReduceL2,
// ReduceSumSquare, ReduceLogSum and ReduceLogSumExp.
func reduceOf(c *call) graph.Value {
	at := readReducedAxes(c)
	if c.Err != nil {
		return graph.None
	}
	x, op := c.Dynamic(0), c.Proto.OpType
	switch op {
	case "ReduceL1":
		x = makeAbsolute(c, ".size")
	case "ReduceSumSquare":
		x = c.node(graph.Mul, ".squares", []graph.Value{x, x})
	case "ReduceLogSumExp":
		return addLogSumExp(c, x, at)
	}
	sum := func(suffix string, v graph.Value) graph.Value {
		if len(at) == 0 {
			return v
		}
		return c.node(graph.ReduceSum, ".sum"+suffix, []graph.Value{v}, "axes", at,
			"keep", c.Int("keepdims", 1) != 0)
	}
	if op == "ReduceL2" {
		return norm{2, ".squares", "", sum}.add(c, x)
	}
	if x = sum("", x); op == "ReduceLogSum" {
		return c.node(graph.Log, "", []graph.Value{x})
	}
	return x
}

// addLogSumExp computes log(sum(exp(x))). It subtracts the largest element from x before
// the exponential, so that the sum stays finite.
func addLogSumExp(c *call, x graph.Value, axes []int) graph.Value {
	if len(axes) == 0 {
		return x
	}
	s := c.g.Type(x).Shape
	top := c.node(graph.ReduceMax, ".largest", []graph.Value{x}, "axes", axes, "keep", true)
	top = c.node(graph.Clip, ".top", []graph.Value{top}, "min", -math.MaxFloat32, "max", math.MaxFloat32)
	v := c.node(graph.Sub, ".below", []graph.Value{x, top})
	v = c.node(graph.Exp, ".exp", []graph.Value{v})
	v = c.node(graph.ReduceSum, ".sum", []graph.Value{v}, "axes", axes, "keep", true)
	v = c.node(graph.Log, ".log", []graph.Value{v})
	v = c.node(graph.Add, ".above", []graph.Value{v, top})
	return reshapeWithout(c, v, s, axes)
}

// reshapeWithout gives the result of a reduction the shape that keepdims selects. v still has the
// reduced axes, with length 1.
func reshapeWithout(c *call, v graph.Value, s, axes []int) graph.Value {
	var shape []int
	for a, n := range s {
		if !slices.Contains(axes, a) {
			shape = append(shape, n)
		} else if c.Int("keepdims", 1) != 0 {
			shape = append(shape, 1)
		}
	}
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", shape)
}
