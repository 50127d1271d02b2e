package node

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Form is the payload of a value.
type Form uint8

const (
	Plain Form = iota // rows of the graph, V, or else a constant, Tensor or File
	// rows that an ArgMax picks from, along their first axis; Picked is the shape of a sample
	Scores
	Sequence // the list Items
	Growth   // integers: Tensor in row 0, and By more from row to row
	Lengths  // integers that are floats in the file: Tensor
)

// Elements is the kind of elements that rows have in the file. Rows of the graph are f32, except for bytes.
type Elements uint8

const (
	Floats   Elements = iota
	Integers          // of the type Kind, where it is known
	Bytes             // integers that are bytes of the graph
	Truths            // 0 and 1
)

// Value is the value of a name of ONNX.
type Value struct {
	Form     Form
	Elements Elements
	Kind     tensor.DType // of integers, where it is known

	V      graph.Value     // graph.None for a constant
	Tensor tensor.Tensor   // the constant
	File   *foreign.Tensor // the constant, still in the file
	Items  []Value         // of a sequence
	Picked []int           // of scores
	By     int64           // of a growth

	Unbatched bool        // rows have the whole shape of the file, the batch being 1
	BatchAxis BatchAxis   // of unbatched values, unless the batch is 1
	Within    *Extent     // bounds of the numbers, where they are known
	Logits    graph.Value // the operand of the softmax that made V, or graph.None
	Op        string      // the operator that made V
	Prepared  bool        // V is the input, or the input with constants added and multiplied
	Added     string      // a constant that is a part of V already; the only reader of V adds it
}

// Rows returns the value of rows of the graph.
func Rows(v graph.Value) Value { return Value{V: v, Logits: graph.None} }

// Constant returns the value of a constant.
func Constant(t tensor.Tensor) Value { return Value{V: graph.None, Tensor: t, Logits: graph.None} }

// InFile returns the value of a constant that is still in the file.
func InFile(t *foreign.Tensor) Value { return Value{V: graph.None, File: t, Logits: graph.None} }

// Growing returns integers that equal t in row 0, and grow by a number from row to row.
func Growing(t tensor.Tensor, by int64, p BatchAxis) Value {
	return Value{Form: Growth, V: graph.None, Logits: graph.None, Tensor: t, By: by, BatchAxis: p}
}

// FloatLengths returns a list of lengths, the batch's too, that are floats in the file.
func FloatLengths(t tensor.Tensor) Value {
	return Value{Form: Lengths, V: graph.None, Logits: graph.None, Tensor: t}
}

// IsConstant reports whether x does not depend on the input.
func (x Value) IsConstant() bool {
	return x.V == graph.None && x.Form != Growth && x.Form != Lengths
}

// IsScores reports whether x are the scores of an ArgMax.
func (x Value) IsScores() bool { return x.Form == Scores }

// IsSequence reports whether x is a sequence.
func (x Value) IsSequence() bool { return x.Form == Sequence }

// IsGrowing reports whether x are integers that grow with the row.
func (x Value) IsGrowing() bool { return x.Form == Growth }

// IsLengths reports whether x are lengths that are floats in the file.
func (x Value) IsLengths() bool { return x.Form == Lengths }

// HoldsIntegers reports whether the rows are integers in the file, bytes of the graph among them.
func (x Value) HoldsIntegers() bool { return x.Elements == Integers || x.Elements == Bytes }

// HoldsBytes reports whether the rows are bytes of the graph.
func (x Value) HoldsBytes() bool { return x.Elements == Bytes }

// HoldsTruths reports whether the rows are truth values in the file.
func (x Value) HoldsTruths() bool { return x.Elements == Truths }

// SetIntegers makes the rows integers of the file. Bytes of the graph stay bytes.
func (x *Value) SetIntegers() {
	if x.Elements != Bytes {
		x.Elements = Integers
	}
}

// IsTruth reports whether x is of truth values, computed or constant.
func (x Value) IsTruth() bool {
	return x.HoldsTruths() || x.IsConstant() && x.Tensor.DType == tensor.Bool
}

// IsInteger reports whether x is of integers, computed or constant.
func (x Value) IsInteger() bool {
	return x.HoldsIntegers() ||
		x.IsConstant() && !element.IsFloat(x.Tensor.DType) && x.Tensor.DType != tensor.Bool
}

// IntegerType is the type that x has in the file, if it is known and one of integers; else 0.
func (x Value) IntegerType() tensor.DType {
	if x.IsConstant() && x.IsInteger() {
		return x.Tensor.DType
	}
	return x.Kind
}

// DType is the type that a value has in the file; all floats that are computed are f32.
func (x Value) DType() tensor.DType {
	switch {
	case x.IsConstant():
		return x.Tensor.DType
	case x.HoldsTruths():
		return tensor.Bool
	case x.HoldsIntegers():
		return cmp.Or(x.Kind, tensor.I64)
	}
	return tensor.F32
}

// HasLength reports whether a constant has the length of the batch among its numbers.
func (x Value) HasLength() bool {
	if element.IsFloat(x.Tensor.DType) {
		return false
	}
	l, err := element.IntegersOf(x.Tensor)
	return err == nil && slices.ContainsFunc(l, func(n int64) bool { _, ok := element.TimesBatch(n); return ok })
}
