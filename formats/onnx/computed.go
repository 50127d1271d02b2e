package onnx

import (
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
)

func init() {
	register(operators{
		"Constant": {
			attributes: accept(0, "value value_float value_floats value_int value_ints value_string "+
				"value_strings sparse_value"),
			refused: "sparse_value; text", fold: fold.One(fold.RefuseText)},
		"ConstantOfShape": {attributes: accept(1, "value"), fold: fold.One(fold.ConstantOfShape),
			traits: hasSettings},
		"Shape":      {attributes: accept(1, "end start"), fold: fold.One(fold.Shape)},
		"Size":       {attributes: accept(1, ""), fold: fold.One(fold.Size)},
		"Range":      {attributes: accept(3, ""), fold: fold.One(fold.Range), traits: hasSettings},
		"EyeLike":    {attributes: accept(1, "dtype k"), fold: fold.One(fold.EyeLike)},
		"NonZero":    {attributes: accept(1, ""), fold: fold.One(fold.NonZero)},
		"BitwiseNot": {attributes: accept(1, ""), fold: fold.BitwiseNot},
		"BitwiseAnd": {attributes: accept(2, ""), fold: fold.BitwiseAnd},
		"BitwiseOr":  {attributes: accept(2, ""), fold: fold.BitwiseOr},
		"BitwiseXor": {attributes: accept(2, ""), fold: fold.BitwiseXor},
	})
}

// These operators are computed when the file is read. The graph has no operations for them.
