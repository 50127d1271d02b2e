package onnx

import (
	"errors"
	"fmt"
)

// Where the file leaves the length N of the batch open, a value may still have it elsewhere than as
// its first axis alone: exporters move it behind the positions of a sequence, and join it with heads
// or windows. Rows of such a value have the whole shape that the file has for N = 1, as unbatched
// values do; batchAxis says which axis has N in it, so that every operator can be asked whether it mixes
// rows. As soon as the batch is the first axis again it is that of the rows.

// batchAxis is an axis of outer*N*inner elements: element (o*N + n)*inner + i is one of row n.
type batchAxis struct{ axis, outer, inner int }

// ofRows is where the batch of rows is.
var ofRows = batchAxis{0, 1, 1}

// errMixes refuses what cannot be computed for each row alone.
var errMixes = errors.New("works along the batch axis, or one that has the batch in it")

// as reports whether the batch lies alike between what it is joined with.
func (p batchAxis) as(q batchAxis) bool { return p.outer == q.outer && p.inner == q.inner }

// error says what an output with this batchAxis lacks.
func (p batchAxis) error() error {
	if p.outer*p.inner > 1 {
		return fmt.Errorf("mixes the rows of the batch with %d others in axis %d", p.outer*p.inner, p.axis)
	}
	return fmt.Errorf("moves the batch axis to axis %d", p.axis)
}

// axisRules is the closed list of operators that take values which have their batch anywhere: where
// it is in their results.
var axisRules map[string]func(*Node) (batchAxis, error)

func init() { // the rules refer to the table's users
	axisRules = map[string]func(*Node) (batchAxis, error){
		"Reshape": (*Node).reshapedAxis, "Flatten": (*Node).flattenedAxis, "Transpose": (*Node).transposedAxis,
		"Squeeze": (*Node).squeezedAxis, "Unsqueeze": (*Node).unsqueezedAxis, "Expand": (*Node).expandedAxis,
		"Gather": (*Node).gatheredAxis, "GatherND": (*Node).tuplesAxis,
		"Concat": (*Node).concatAxis, "Split": (*Node).besideAxis,
		"Slice": (*Node).slicedAxis, "MatMul": (*Node).productAxis, "Gemm": (*Node).gemmAxis,
		"Softmax": (*Node).softmaxAxis, "LogSoftmax": (*Node).softmaxAxis, "Hardmax": (*Node).softmaxAxis,
		"LayerNormalization": (*Node).layerNormAxis, "LpNormalization": (*Node).besideAxis,
		"Einsum": (*Node).einsumAxis, "ScatterND": (*Node).setAxis, "Trilu": (*Node).triangleAxis,
	}
	for _, op := range []string{"QuantizeLinear", "DequantizeLinear"} {
		axisRules[op] = (*Node).quantisedAxis
	}
	for op := range reductions {
		axisRules[op] = (*Node).reducedAxis
	}
	for _, op := range []string{"Relu", "Sigmoid", "Tanh", "Softplus", "HardSwish", "Exp", "Log", "Sqrt",
		"LeakyRelu", "Elu", "Selu", "HardSigmoid", "Celu", "Mish", "Erf", "Gelu", "Reciprocal", "Clip", "Neg",
		"Abs", "Softsign", "Sign", "Floor", "Ceil", "Round", "IsNaN", "IsInf", "Not", "Identity", "Cast",
		"CastLike", "Dropout", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan",
		"ThresholdedRelu", "Shrink", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh"} {
		axisRules[op] = func(c *Node) (batchAxis, error) { return c.in[0].batchAxis, nil }
	}
	for _, op := range []string{"Add", "Sub", "Mul", "Div", "Sum", "Mean", "Max", "Min", "Where", "Pow", "Equal",
		"Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Mod"} {
		axisRules[op] = (*Node).alignedAxis
	}
}

// batchAxisAfter returns where the batch is in the results of a node whose operands are unbatched.
func (c *Node) batchAxisAfter(op string) (batchAxis, error) {
	rule := axisRules[op]
	if rule == nil || c.opset < 7 && c.attribute("axis") != nil && c.int("broadcast", 0) != 0 {
		return batchAxis{}, errMixes
	}
	p, err := rule(c)
	if c.err != nil {
		err = c.err
	}
	return p, err
}

// resolveBatch gives results their batchAxis; where that is the first axis the batch is that of the
// rows again.
func (c *call) resolveBatch(out []value, p batchAxis) {
	if c.err != nil {
		return
	}
	for i := range out {
		if out[i].isConstant() {
			continue
		}
		out[i].batchAxis = p
		if p == ofRows {
			out[i].v = c.withoutFirst(out[i].v)
		}
	}
	c.unbatched = p != ofRows
}
