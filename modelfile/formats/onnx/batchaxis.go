package onnx

import (
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/node"
)

// axisRules is the closed list of operators that take values which have their batch anywhere: where
// it is in their results.
var axisRules map[string]func(*node.Node) (node.BatchAxis, error)

func init() { // the rules refer to the table's users
	axisRules = map[string]func(*node.Node) (node.BatchAxis, error){
		"Reshape": batchaxis.Reshaped, "Flatten": batchaxis.Flattened, "Transpose": batchaxis.Transposed,
		"Squeeze": batchaxis.Squeezed, "Unsqueeze": batchaxis.Unsqueezed, "Expand": batchaxis.Expanded,
		"Gather": batchaxis.Gathered, "GatherND": batchaxis.Tuples,
		"Concat": batchaxis.Concat, "Split": batchaxis.Beside,
		"Slice": batchaxis.Sliced, "MatMul": batchaxis.Product, "Gemm": batchaxis.Gemm,
		"Softmax": batchaxis.Softmax, "LogSoftmax": batchaxis.Softmax, "Hardmax": batchaxis.Softmax,
		"LayerNormalization": batchaxis.LayerNorm, "LpNormalization": batchaxis.Beside,
		"Einsum": batchaxis.Einsum, "ScatterND": batchaxis.Set, "Trilu": batchaxis.Triangle,
	}
	for _, op := range []string{"QuantizeLinear", "DequantizeLinear"} {
		axisRules[op] = batchaxis.Quantised
	}
	for op := range fold.Reductions {
		axisRules[op] = batchaxis.Reduced
	}
	for _, op := range []string{"Relu", "Sigmoid", "Tanh", "Softplus", "HardSwish", "Exp", "Log", "Sqrt",
		"LeakyRelu", "Elu", "Selu", "HardSigmoid", "Celu", "Mish", "Erf", "Gelu", "Reciprocal", "Clip", "Neg",
		"Abs", "Softsign", "Sign", "Floor", "Ceil", "Round", "IsNaN", "IsInf", "Not", "Identity", "Cast",
		"CastLike", "Dropout", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan",
		"ThresholdedRelu", "Shrink", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh"} {
		axisRules[op] = func(c *node.Node) (node.BatchAxis, error) { return c.In[0].BatchAxis, nil }
	}
	for _, op := range []string{"Add", "Sub", "Mul", "Div", "Sum", "Mean", "Max", "Min", "Where", "Pow", "Equal",
		"Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Mod"} {
		axisRules[op] = batchaxis.Aligned
	}
}

// batchAxisAfter returns where the batch is in the results of a node whose operands are unbatched.
func batchAxisAfter(c *node.Node, op string) (node.BatchAxis, error) {
	rule := axisRules[op]
	if rule == nil || c.Opset < 7 && c.Attribute("axis") != nil && c.Int("broadcast", 0) != 0 {
		return node.BatchAxis{}, node.ErrMixes
	}
	p, err := rule(c)
	if c.Err != nil {
		err = c.Err
	}
	return p, err
}

// resolveBatch gives results their batchAxis; where that is the first axis the batch is that of the
// rows again.
func (c *call) resolveBatch(out []node.Value, p node.BatchAxis) {
	if c.Err != nil {
		return
	}
	for i := range out {
		if out[i].IsConstant() {
			continue
		}
		out[i].BatchAxis = p
		if p == node.OfRows {
			out[i].V = c.withoutFirst(out[i].V)
		}
	}
	c.Unbatched = p != node.OfRows
}
