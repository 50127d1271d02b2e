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
		"Relu": {attributes: accept(1, "", "consumed_inputs"), make: oneResult(simple(graph.Relu)), fold: fold.Relu,
			batch: batchaxis.Same, traits: onWeights},
		"Sigmoid": {attributes: accept(1, "", "consumed_inputs"), make: oneResult(simple(graph.Sigmoid)),
			fold: fold.Sigmoid, batch: batchaxis.Same, traits: onWeights},
		"Tanh": {attributes: accept(1, "", "consumed_inputs"), make: oneResult(simple(graph.Tanh)), fold: fold.Tanh,
			batch: batchaxis.Same, traits: onWeights},
		"Exp": {attributes: accept(1, "", "consumed_inputs"), make: oneResult(simple(graph.Exp)), fold: fold.Exp,
			batch: batchaxis.Same, traits: onWeights},
		"Log": {attributes: accept(1, "", "consumed_inputs"), make: oneResult(simple(graph.Log)), fold: fold.Log,
			batch: batchaxis.Same, traits: onWeights},
		"Sqrt": {attributes: accept(1, "", "consumed_inputs"), make: oneResult(simple(graph.Sqrt)), fold: fold.Sqrt,
			batch: batchaxis.Same, traits: onWeights},
		"Softplus": {attributes: accept(1, ""), make: oneResult(simple(graph.Softplus)), batch: batchaxis.Same,
			traits: onWeights},
		"HardSwish": {attributes: accept(1, ""), make: oneResult(simple(graph.HardSwish)), batch: batchaxis.Same},
		"Softsign":  {attributes: accept(1, ""), make: oneResult(softsign), batch: batchaxis.Same},
		"Neg": {attributes: accept(1, "", "consumed_inputs"), make: oneResult(negate), fold: fold.Neg,
			batch: batchaxis.Same, traits: onWeights},
		"Abs": {attributes: accept(1, "", "consumed_inputs"), make: oneResult(abs), fold: fold.Abs,
			batch: batchaxis.Same, traits: onWeights},
		"LeakyRelu": {attributes: accept(1, "alpha", "consumed_inputs"), make: oneResult(leakyRelu),
			batch: batchaxis.Same},
		"Elu": {attributes: accept(1, "alpha", "consumed_inputs"), make: oneResult(elu), batch: batchaxis.Same},
		"Selu": {attributes: accept(1, "alpha gamma", "consumed_inputs"), make: oneResult(selu),
			batch: batchaxis.Same},
		"HardSigmoid": {attributes: accept(1, "alpha beta", "consumed_inputs"), make: oneResult(hardSigmoid),
			batch: batchaxis.Same},
		"PRelu": {attributes: accept(2, "", "consumed_inputs"), make: oneResult(prelu), traits: needsBatch},
		"Clip": {attributes: accept(3, "max min", "consumed_inputs"), make: clips, fold: fold.One(fold.Clip),
			batch: batchaxis.Same, traits: hasSettings | onWeights},
		"Softmax": {attributes: accept(1, "axis"), make: softmax, fold: fold.Softmax, batch: batchaxis.Softmax,
			traits: onWeights},
		"LogSoftmax": {attributes: accept(1, "axis"), make: oneResult(logSoftmax), fold: fold.LogSoftmax,
			batch: batchaxis.Softmax, traits: onWeights},
		"Celu": {attributes: accept(1, "alpha"), make: oneResult(celu), batch: batchaxis.Same},
		"Mish": {attributes: accept(1, ""), make: oneResult(simple(graph.Mish)), batch: batchaxis.Same},
		"Erf": {attributes: accept(1, ""), make: oneResult(simple(graph.Erf)), fold: fold.Erf,
			batch: batchaxis.Same, traits: onWeights},
		"Gelu": {attributes: accept(1, "approximate"), make: oneResult(gelu), batch: batchaxis.Same},
	})
}

func leakyRelu(c *call) graph.Value {
	return c.node(graph.LeakyRelu, "", []graph.Value{c.Dynamic(0)}, "alpha", shortest(c.Float("alpha", 0.01)))
}

func elu(c *call) graph.Value {
	return c.node(graph.Elu, "", []graph.Value{c.Dynamic(0)}, "alpha", shortest(c.Float("alpha", 1)))
}

// selu adds a Selu, which is gamma times an Elu.
func selu(c *call) graph.Value {
	v := c.node(graph.Elu, ".elu", []graph.Value{c.Dynamic(0)}, "alpha",
		shortest(c.Float("alpha", 1.67326319217681884765625)))
	gamma := shortest(c.Float("gamma", 1.05070102214813232421875))
	return c.node(graph.Affine, "", []graph.Value{v}, "by", gamma)
}

func hardSigmoid(c *call) graph.Value {
	alpha, beta := shortest(c.Float("alpha", 0.2)), shortest(c.Float("beta", 0.5))
	if float32(alpha) == float32(1.0/6) {
		alpha = 1.0 / 6
	}
	return c.node(graph.HardSigmoid, "", []graph.Value{c.Dynamic(0)}, "alpha", alpha, "beta", beta)
}

// prelu adds a PRelu with a slope for each channel, or with one for all. From operator set
// 7 on, the shape of the slopes broadcasts from the last axis. Before, a list of slopes has
// one for each channel.
func prelu(c *call) graph.Value {
	s := c.Shape(0)
	t, ok := c.Constant(1)
	if !ok || len(s) == 0 {
		c.Fail("without constant slopes is not supported")
		return graph.None
	}
	if len(t.Shape) > c.Rank(0) {
		c.Fail("with slopes %v for a value of rank %d", t, c.Rank(0))
		return graph.None
	}
	if t.Count() == 1 {
		return c.node(graph.Prelu, "", []graph.Value{c.Dynamic(0), c.spread(1, graph.Weight, s[0])})
	}
	perChannel := append([]int{s[0]}, slices.Repeat([]int{1}, len(s)-1)...)
	if shape := c.aligned(t.Shape, len(s)+1); c.Opset >= 7 && !slices.Equal(shape, perChannel) {
		return makePrelu(c, s, shape)
	}
	return c.node(graph.Prelu, "", []graph.Value{c.Dynamic(0), c.state(1, graph.Weight, s[0])})
}

// makePrelu computes relu(x) - slope*relu(-x). The slopes may have any shape that
// broadcasts to the shape of x.
func makePrelu(c *call, s, slopes []int) graph.Value {
	if full, err := graph.Broadcast(s, slopes); c.Err == nil && (err != nil || !slices.Equal(full, s)) {
		c.Fail("with slopes %v for %v", slopes, s)
	}
	up := c.node(graph.Relu, ".up", []graph.Value{c.Dynamic(0)})
	negative := c.node(graph.Affine, ".negative", []graph.Value{c.Dynamic(0)}, "by", -1.0)
	down := c.node(graph.Relu, ".down", []graph.Value{negative})
	down = c.node(graph.Mul, ".sloped", []graph.Value{down, c.state(1, graph.Weight, slopes...)})
	return c.node(graph.Sub, "", []graph.Value{up, down})
}

// spread declares operand i, which is one number, and repeats it n times. The model still stores
// one number, so that training changes all repetitions alike.
func (c *call) spread(i int, role graph.Role, n int) graph.Value {
	one := c.state(i, role, 1)
	if n == 1 {
		return one
	}
	return c.node(graph.BroadcastTo, ".each", []graph.Value{one}, "shape", []int{n})
}

// clips reads a Clip. Its bounds are attributes up to operator set 10, and operands after that.
func clips(c *call) []node.Value {
	low, hasLow := c.Scalar("min", 1)
	high, hasHigh := c.Scalar("max", 2)
	if !hasLow {
		low = math.Inf(-1)
	}
	if !hasHigh {
		high = math.Inf(1)
	}
	out := node.Value{Logits: graph.None, Within: &node.Extent{Least: min(low, high), Most: high}}
	if low == 0 && high == 6 {
		out.V = c.node(graph.Relu6, "", []graph.Value{c.Dynamic(0)})
	} else {
		out.V = c.node(graph.Clip, "", []graph.Value{c.Dynamic(0)}, "min", shortest(low), "max", shortest(high))
	}
	return []node.Value{out}
}

func negate(c *call) graph.Value {
	return c.node(graph.Affine, "", []graph.Value{c.Dynamic(0)}, "by", -1.0)
}

// abs is relu(x) + relu(-x).
func abs(c *call) graph.Value { return makeAbsolute(c, "") }

func makeAbsolute(c *call, suffix string) graph.Value {
	up := c.node(graph.Relu, ".up", []graph.Value{c.Dynamic(0)})
	negative := c.node(graph.Affine, ".negative", []graph.Value{c.Dynamic(0)}, "by", -1.0)
	down := c.node(graph.Relu, ".down", []graph.Value{negative})
	return c.node(graph.Add, suffix, []graph.Value{up, down})
}

// softsign is x/(1+|x|).
func softsign(c *call) graph.Value {
	under := c.node(graph.Affine, ".under", []graph.Value{makeAbsolute(c, ".size")}, "add", 1.0)
	return c.node(graph.Div, "", []graph.Value{c.Dynamic(0), under})
}

// addOverAxis adds a node along an axis. Up to operator set 12, all axes from
// this one to the last count as one axis.
func addOverAxis(c *call, op graph.Op) graph.Value {
	s := c.Shape(0)
	def := -1
	if c.Opset < 13 {
		def = 1
	}
	axis := c.Axis(int64(c.Int("axis", def)), len(s))
	if c.Err != nil || len(s) == 0 {
		c.Fail("of a scalar")
		return graph.None
	}
	if c.Opset >= 13 || tensor.Count(s[axis+1:]) == 1 {
		return c.node(op, "", []graph.Value{c.Dynamic(0)}, "axis", axis)
	}
	flat := append(slices.Clone(s[:axis]), tensor.Count(s[axis:]))
	v := c.node(graph.Reshape, ".flat", []graph.Value{c.Dynamic(0)}, "shape", flat)
	v = c.node(op, ".over", []graph.Value{v}, "axis", axis)
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", s)
}

func softmax(c *call) []node.Value {
	out := node.Rows(addOverAxis(c, graph.Softmax))
	if s := c.Shape(0); len(s) == 1 {
		out.Logits = c.Dynamic(0)
	}
	return []node.Value{out}
}

func logSoftmax(c *call) graph.Value { return addOverAxis(c, graph.LogSoftmax) }

// celu is alpha * elu(x/alpha), elu with alpha 1.
func celu(c *call) graph.Value {
	alpha := shortest(c.Float("alpha", 1))
	if c.Err == nil && !(alpha > 0) {
		c.Fail("alpha is %v, want more than 0", alpha)
	}
	v := c.node(graph.Affine, ".in", []graph.Value{c.Dynamic(0)}, "by", 1/alpha)
	v = c.node(graph.Elu, ".elu", []graph.Value{v}, "alpha", 1.0)
	return c.node(graph.Affine, "", []graph.Value{v}, "by", alpha)
}

// gelu is x times the normal distribution function. The attribute selects the exact form with erf, or
// the approximation with tanh.
func gelu(c *call) graph.Value {
	op, ok := map[string]graph.Op{"none": graph.Gelu, "tanh": graph.GeluTanh}[c.Text("approximate", "none")]
	if !ok {
		c.Fail("approximate is %.40q, want none or tanh", c.Text("approximate", "none"))
		return graph.None
	}
	return c.node(op, "", []graph.Value{c.Dynamic(0)})
}

// simple returns the maker of an operator: the function that adds its nodes. Here it adds
// one node without attributes.
func simple(op graph.Op) func(*call) graph.Value {
	return func(c *call) graph.Value { return c.node(op, "", []graph.Value{c.Dynamic(0)}) }
}
