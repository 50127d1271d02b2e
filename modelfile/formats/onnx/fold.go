package onnx

import (
	"fmt"

	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// fold computes the results of a node from constants, or, as Shape does, from
// the shape of a value. Constants keep the types of the file, but halves, which
// are f32 here.
type fold func(*call) []tensor.Tensor

// folds is the closed list of operators that are computed when the file is read.
var folds map[string]fold

func init() { // the folds refer to the table's users
	folds = map[string]fold{
		"Constant": computes(foldConstant), "ConstantOfShape": computes(foldConstantOfShape),
		"Shape": computes(foldShape), "Size": computes(foldSize), "Range": computes(foldRange),
		"OneHot": computes(foldOneHot), "EyeLike": computes(foldEyeLike), "NonZero": computes(foldNonZero),
		"Identity": computes(foldIdentity), "Cast": computes(foldCast), "CastLike": computes(foldCast),
		"Dropout": computes(foldIdentity),

		"QuantizeLinear": computes(foldQuantize), "DequantizeLinear": computes(foldDequantize),

		"Gather": computes(foldGather), "GatherElements": computes(foldGatherElements),
		"GatherND": computes(foldGatherND), "ScatterND": computes(foldScatterND),
		"ScatterElements": computes(foldScatterElements), "Scatter": computes(foldScatterElements),
		"Slice": computes(foldSlice), "Concat": computes(foldConcat), "Transpose": computes(foldTranspose),
		"Split": foldSplit, "Tile": computes(foldTile), "Expand": computes(foldExpand), "Pad": computes(foldPad),
		"Where": computes(foldWhere), "Trilu": computes(foldTrilu),
		"Reshape": computes(foldReshape), "Squeeze": computes(foldSqueeze),
		"Unsqueeze": computes(foldUnsqueeze), "Flatten": computes(foldFlatten),

		"MatMul": computes(foldMatMul), "Gemm": computes(foldGemm), "Einsum": computes(foldEinsum),
		"CumSum": computes(foldCumSum), "TopK": foldTopK, "Clip": computes(foldClip),
		"ArgMax": computes(foldArg), "ArgMin": computes(foldArg),
	}
	for op := range unary {
		folds[op] = computes(foldUnary)
	}
	for op := range binaryFolds {
		folds[op] = computes(foldBinary)
	}
	for op := range reductions {
		folds[op] = computes(foldReduce)
	}
}

// computes makes a fold of a function with one result.
func computes(f func(*call) tensor.Tensor) fold {
	return func(c *call) []tensor.Tensor { return []tensor.Tensor{f(c)} }
}

// fold computes constants.
func (c *call) fold(f fold) []value {
	var out []value
	for _, t := range f(c) {
		out = append(out, constant(t))
	}
	if c.err != nil {
		return nil
	}
	return out
}

// reserve takes the size of a constant, of a shape and with elements of type d, from the budget,
// and reports whether that is possible.
func (c *call) reserve(d tensor.DType, shape []int) bool {
	if c.err != nil {
		return false
	}
	size, err := tensor.Size(d, shape)
	if err == nil && len(shape) > tensor.MaxRank {
		err = fmt.Errorf("a result of rank %d", len(shape))
	}
	if err != nil {
		c.fail("%w", err)
	} else if c.foldBudget -= size; c.foldBudget < 0 {
		c.fail("%w", c.overBudget())
	}
	return c.err == nil
}

// newConstant returns a new constant if the budget allows it.
func (c *call) newConstant(d tensor.DType, shape []int) tensor.Tensor {
	if !c.reserve(d, shape) {
		return nothing
	}
	return tensor.New(d, shape...)
}

// gathered is gatherElements if the budget allows it.
func (c *call) gathered(t tensor.Tensor, shape []int, from func(index []int) int) tensor.Tensor {
	if !c.reserve(t.DType, shape) {
		return nothing
	}
	return element.Gather(t, shape, from)
}

// nothing is what stands for a constant after an error.
var nothing = tensor.New(tensor.F32, 0)

func (r *reader) overBudget() error {
	return fmt.Errorf("the constants that are computed or converted take more than %d MiB and %d times the "+
		"size of the file and its external data", maxFolded>>20, foldedTimes)
}

// required returns operand i of a fold.
func (c *call) required(i int) tensor.Tensor {
	t, ok := c.constant(i)
	if !ok {
		c.fail("operand %d is absent", i)
	}
	if c.err != nil {
		return nothing
	}
	return t
}

// integers reads operand i of a fold, which has integers or truth values.
func (c *call) integers(i int) (t tensor.Tensor, at func(k int) int64) {
	t = c.required(i)
	if c.err == nil {
		var err error
		if at, err = element.Integers(t); err != nil {
			c.fail("operand %d: %w", i, err)
		}
	}
	return t, at
}

// reals reads operand i of a fold, which has floats.
func (c *call) reals(i int) (t tensor.Tensor, at func(k int) float64) {
	t = c.required(i)
	if c.err == nil {
		var err error
		if at, err = element.Reals(t); err != nil {
			c.fail("operand %d: %w", i, err)
		}
	}
	return t, at
}

// foldAxis is axis for constants, which have no batch axis.
func (c *call) foldAxis(a int64, rank int) int {
	if a < 0 {
		a += int64(rank)
	}
	if a < 0 || a >= int64(rank) {
		c.fail("axis %d of a tensor of rank %d", a, rank)
		return 0
	}
	return int(a)
}

func foldIdentity(c *call) tensor.Tensor { return c.required(0) }

// foldCast turns integers into floats and back, towards zero.
func foldCast(c *call) tensor.Tensor {
	t := c.required(0)
	d, err := onnxpb.DType(int32(c.int("to", 0)))
	if c.n.OpType == "CastLike" {
		d, err = c.required(1).DType, nil
	}
	if err != nil {
		c.fail("%w", err)
	}
	if d == tensor.F16 || d == tensor.BF16 {
		d = tensor.F32
	}
	if c.err != nil || t.DType == d {
		return t
	}
	return c.cast(t, d)
}

func (c *call) cast(t tensor.Tensor, d tensor.DType) tensor.Tensor {
	out := c.newConstant(d, t.Shape)
	if c.err != nil {
		return out
	}
	if element.IsFloat(t.DType) {
		at, _ := element.Reals(t)
		for k := range t.Count() {
			c.setCast(out, k, at(k))
		}
		return out
	}
	at, err := element.Integers(t)
	if err != nil {
		c.fail("%w", err)
		return out
	}
	for k := range t.Count() {
		switch v := at(k); {
		case element.IsFloat(d):
			element.SetReal(out, k, float64(c.concrete(v)))
		case d != tensor.I64 && !(d == tensor.I32 && v < element.AnyBatch+element.MaxTimes32):
			element.SetInteger(out, k, c.concrete(v))
		default:
			element.SetInteger(out, k, v)
		}
	}
	return out
}

// setCast sets element k to a float.
func (c *call) setCast(out tensor.Tensor, k int, v float64) {
	switch d := out.DType; {
	case element.IsFloat(d):
		element.SetReal(out, k, v)
	case d == tensor.Bool:
		if v != 0 {
			out.Bytes[k] = 1
		}
	case !(v >= -1<<63 && v < 1<<63):
		c.fail("of %v to an integer has no result", v)
	default:
		element.SetInteger(out, k, int64(v))
	}
}

// concrete returns v, and 1 for the length of a batch that the file fixes to 1; it
// fails if v stands for the length of another batch.
func (c *call) concrete(v int64) int64 {
	times, ok := element.TimesBatch(v)
	if !ok {
		return v
	}
	if c.batch == 1 {
		c.batchAsAxis = true
		return times
	}
	c.fail("%w", errLength)
	return 1
}
