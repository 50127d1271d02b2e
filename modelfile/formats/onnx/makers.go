package onnx

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/node"
)

// makers is the closed list of operators that become nodes of the graph.
var makers map[string]maker

func init() { // the makers refer to the table's users
	makers = map[string]maker{
		"Conv": one(conv), "ConvTranspose": one(convTranspose), "Gemm": one(gemm), "MatMul": matMulBias,
		"Einsum":             one(einsumOf),
		"BatchNormalization": one(batchNorm),

		"MaxPool": one(pool), "AveragePool": one(pool),
		"LpPool": one(lpPool), "GlobalMaxPool": one(globalPool), "GlobalAveragePool": one(globalPool),

		"Relu": one(simple(graph.Relu)), "Sigmoid": one(simple(graph.Sigmoid)), "Tanh": one(simple(graph.Tanh)),
		"Softplus": one(simple(graph.Softplus)), "HardSwish": one(simple(graph.HardSwish)),
		"Exp": one(simple(graph.Exp)), "Log": one(simple(graph.Log)), "Sqrt": one(simple(graph.Sqrt)),
		"LeakyRelu": one(leakyRelu), "Elu": one(elu), "Selu": one(selu), "HardSigmoid": one(hardSigmoid),
		"Celu": one(celu), "Mish": one(simple(graph.Mish)), "Erf": one(simple(graph.Erf)), "Gelu": one(gelu),
		"Reciprocal": one(reciprocal), "Pow": one(pow),
		"PRelu": one(prelu), "Clip": clips, "Neg": one(negate), "Abs": one(abs), "Softsign": one(softsign),
		"Softmax": softmax, "LogSoftmax": one(logSoftmax),

		"Add": one(binary), "Sub": one(binary), "Mul": one(binary), "Div": one(binary), "Sum": one(sum),
		"Mean": one(mean), "Max": one(maximum), "Min": one(minimum), "Where": choices,
		"Equal": tells(compared), "Greater": tells(compared), "GreaterOrEqual": tells(compared),
		"Less": tells(compared), "LessOrEqual": tells(compared), "IsNaN": tells(isNaN), "IsInf": tells(isInf),
		"And": tells(logical), "Or": tells(logical), "Xor": tells(logical), "Not": tells(not),
		"ThresholdedRelu": one(thresholdedRelu), "Shrink": one(shrink), "Hardmax": one(hardmax),
		"Sinh": one(sinhCosh), "Cosh": one(sinhCosh), "Asinh": one(asinh), "Acosh": one(acosh), "Atanh": one(atanh),
		"Sign": one(signOf), "Floor": one(rounded), "Ceil": one(rounded), "Round": one(rounded),
		"ReduceMean": one(reduce), "ReduceSum": one(reduce),
		"ReduceMax": one(reduce), "ReduceMin": one(reduce), "ReduceProd": one(reduce),
		"ReduceL1": one(reduceOf), "ReduceL2": one(reduceOf), "ReduceSumSquare": one(reduceOf),
		"ReduceLogSum": one(reduceOf), "ReduceLogSumExp": one(reduceOf),

		"LRN": one(lrn), "LayerNormalization": layerNorms, "GroupNormalization": one(groupNorm),
		"InstanceNormalization": one(instanceNorm), "LpNormalization": one(lpNorm),

		"Concat": one(concat), "Slice": one(slice), "Gather": gathers, "Tile": one(tile),
		"Scatter": one(scatter), "ScatterElements": one(scatter), "ScatterND": one(setParts),
		"Trilu":          one(triangle),
		"GatherElements": one(selectElements), "GatherND": one(selectTuples),
		"Split": split, "Pad": one(pad),
		"Transpose": one(transpose), "Expand": one(expand), "Reshape": one(reshape), "Flatten": one(flatten),
		"Squeeze": one(squeeze), "Unsqueeze": one(unsqueeze),
		"DepthToSpace": one(depthToSpace), "SpaceToDepth": one(spaceToDepth),
		"Resize": one(resize), "Upsample": one(resize),

		"Sin": one(sineCosine), "Cos": one(sineCosine), "Tan": one(tangent), "Asin": one(arc), "Acos": one(arc),
		"Atan": one(arc), "Mod": remainder, "TopK": topK,
		"ArgMin": argExtreme, "OneHot": oneHots, "Compress": one(compress),
		"CenterCropPad": one(centerCropPad), "Col2Im": one(col2Im), "AffineGrid": one(affineGrid),
		"MeanVarianceNormalization": one(meanVariance),

		"QuantizeLinear": quantizeLinear, "DequantizeLinear": one(dequantizeLinear),

		"ArgMax": argMax, "Identity": same, "Cast": cast, "CastLike": castLike,
		"Dropout": dropouts,
	}
}

// simple makes the maker of an operator that is one node without attributes.
func simple(op graph.Op) func(*call) graph.Value {
	return func(c *call) graph.Value { return c.node(op, "", []graph.Value{c.Dynamic(0)}) }
}

// same passes a value on, with what is known of it.
func same(c *call) []node.Value {
	c.Dynamic(0)
	return []node.Value{c.In[0]}
}

// truth is operand 0 as truth values.
func (c *call) truth() []node.Value {
	if c.Dynamic(0); c.Err != nil || c.In[0].Truth {
		return same(c)
	}
	out := node.Rows(c.node(graph.Compare, "", []graph.Value{c.Dynamic(0)}, "of", "not_equal"))
	out.Truth = true
	return []node.Value{out}
}

// castLike passes on a value beside floats; beside truth values it becomes one.
func castLike(c *call) []node.Value {
	switch {
	case !c.Has(1):
		c.Fail("operand 1 is absent")
	case c.In[0].IsConstant() && c.Has(0): // beside a value, whose type it takes
		return []node.Value{node.Constant(fold.CastTo(&c.Node, c.In[0].Tensor, c.In[1].DType()))}
	}
	return c.castTo(c.storedType(1))
}

// dropouts is dropout, and where somebody takes it the mask of what stays, which is everything.
func dropouts(c *call) []node.Value {
	out := node.Rows(dropout(c))
	if len(c.Proto.Output) < 2 || c.Err != nil || len(c.readersOf(c.Proto.Output[1])) == 0 {
		return []node.Value{out} // PyTorch names a mask that nobody takes; it would be a tensor of the model
	}
	if c.Opset < 12 {
		c.Fail("before operator set 12 says not what its mask is in prediction: nothing may take it")
	}
	s := c.Shape(0)
	mask := node.Rows(c.everyRow(c.Dynamic(0), c.number("all", 1), s))
	mask.Truth = true
	return []node.Value{out, mask}
}

// dropout stands where training drops elements. In training mode, as operand 2 or, in operator set
// 6, is_test says, it would drop some now.
func dropout(c *call) graph.Value {
	p, ok := c.Scalar("ratio", 1)
	if !ok {
		p = 0.5
	}
	if p == 0 { // in training, too
		return c.Dynamic(0)
	}
	training, ok := c.Constant(2)
	drops := ok && training.Count() == 1 && training.Bytes[0] != 0 || c.Opset < 7 && c.Int("is_test", 1) == 0
	if drops && !c.forTraining {
		c.Fail("%w", errTrains)
	}
	return c.node(graph.Dropout, "", []graph.Value{c.Dynamic(0)}, "p", shortest(p))
}
