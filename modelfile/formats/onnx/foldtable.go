package onnx

import (
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/node"
)

// folds is the closed list of operators that are computed when the file is read.
var folds map[string]fold.Func

func init() { // the folds refer to the table's users
	folds = map[string]fold.Func{
		"Constant": fold.One(fold.RefuseText), "ConstantOfShape": fold.One(fold.ConstantOfShape),
		"Shape": fold.One(fold.Shape), "Size": fold.One(fold.Size), "Range": fold.One(fold.Range),
		"OneHot": fold.One(fold.OneHot), "EyeLike": fold.One(fold.EyeLike), "NonZero": fold.One(fold.NonZero),
		"Identity": fold.One(fold.Identity), "Cast": fold.One(fold.Cast), "CastLike": fold.One(fold.Cast),
		"Dropout": fold.One(fold.Identity),

		"QuantizeLinear": fold.One(fold.Quantize), "DequantizeLinear": fold.One(fold.Dequantize),

		"Gather": fold.One(fold.Gather), "GatherElements": fold.One(fold.GatherElements),
		"GatherND": fold.One(fold.GatherND), "ScatterND": fold.One(fold.ScatterND),
		"ScatterElements": fold.One(fold.ScatterElements), "Scatter": fold.One(fold.ScatterElements),
		"Slice": fold.One(fold.Slice), "Concat": fold.One(fold.Concat), "Transpose": fold.One(fold.Transpose),
		"Split": fold.Split, "Tile": fold.One(fold.Tile), "Expand": fold.One(fold.Expand), "Pad": fold.One(fold.Pad),
		"Where": fold.One(fold.Where), "Trilu": fold.One(fold.Trilu),
		"Reshape": fold.One(fold.Reshape), "Squeeze": fold.One(fold.Squeeze),
		"Unsqueeze": fold.One(fold.Unsqueeze), "Flatten": fold.One(fold.Flatten),

		"MatMul": fold.One(fold.MatMul), "Gemm": fold.One(fold.Gemm), "Einsum": fold.One(fold.Einsum),
		"CumSum": fold.One(fold.CumSum), "TopK": fold.TopK, "Clip": fold.One(fold.Clip),
		"ArgMax": fold.One(fold.Arg), "ArgMin": fold.One(fold.Arg),
	}
	for op := range fold.UnaryOps {
		folds[op] = fold.One(fold.Unary)
	}
	for op := range fold.BinaryOps {
		folds[op] = fold.One(fold.Binary)
	}
	for op := range fold.Reductions {
		folds[op] = fold.One(fold.Reduce)
	}
}

// fold computes constants.
func (c *call) fold(f fold.Func) []node.Value {
	var out []node.Value
	for _, t := range f(&c.Node) {
		out = append(out, node.Constant(t))
	}
	if c.Err != nil {
		return nil
	}
	return out
}
