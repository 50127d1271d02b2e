package node

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Form is the representation of a value.
type Form uint8

const (
	Plain Form = iota // a value of the graph in V, or a constant in Tensor or File
	// rows from which an ArgMax picks along the first axis; Picked is the shape of a
	// sample of the result
	Scores
	Sequence // a list in Items
	Growth   // integers: Tensor has those of row 0, and those of each next row are larger by By
	Lengths  // lengths in Tensor, which are integers here and floats in the file
)

// Elements is the kind of elements that a computed value has in the file. In the graph,
// such values are f32, except for bytes.
type Elements uint8

const (
	Floats   Elements = iota
	Integers          // integers; Kind is their type if it is known
	Bytes             // integers that are bytes of the graph
	Truths            // truth values, 0 or 1
)

// Value is the value of a name in the file.
type Value struct {
	Form     Form
	Elements Elements
	Kind     tensor.DType // type of integers, if it is known

	V      graph.Value     // graph.None for a constant
	Tensor tensor.Tensor   // the constant
	File   *foreign.Tensor // the constant, if it is still in the file
	Items  []Value         // values of a sequence
	Picked []int           // see Scores
	By     int64           // see Growth

	Unbatched bool        // rows have the whole shape that the file has for a batch of 1
	BatchAxis BatchAxis   // batch axis of the value, unless the batch is 1
	Within    *Extent     // bounds of the numbers, if they are known
	Logits    graph.Value // the operand of the softmax that computed V, or graph.None
	Op        string      // the operator that computed V
	Prepared  bool        // V is the input, or the input with constants added and multiplied
	Added     string      // name of a constant that was added to V already, by merging the only reader of V
}

// Rows returns the Value for a value of the graph, which has a row for each sample.
func Rows(v graph.Value) Value { return Value{V: v, Logits: graph.None} }

// Constant returns the value of a constant.
func Constant(t tensor.Tensor) Value { return Value{V: graph.None, Tensor: t, Logits: graph.None} }

// InFile returns the value of a constant that is still in the file.
func InFile(t *foreign.Tensor) Value { return Value{V: graph.None, File: t, Logits: graph.None} }

// Growing returns integers that equal t in row 0, and grow by step from row to row.
func Growing(t tensor.Tensor, step int64, p BatchAxis) Value {
	return Value{Form: Growth, V: graph.None, Logits: graph.None, Tensor: t, By: step, BatchAxis: p}
}

// FloatLengths returns a list of lengths, which may include the batch's, that are floats in the file.
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

// IsGrowing reports whether x are integers that grow from row to row: see Growth.
func (x Value) IsGrowing() bool { return x.Form == Growth }

// IsLengths reports whether x are lengths that are floats in the file.
func (x Value) IsLengths() bool { return x.Form == Lengths }

// HoldsIntegers reports whether x is computed and has integers in the file. Bytes of the graph
// count too.
func (x Value) HoldsIntegers() bool { return x.Elements == Integers || x.Elements == Bytes }

// HoldsBytes reports whether x has bytes of the graph.
func (x Value) HoldsBytes() bool { return x.Elements == Bytes }

// HoldsTruths reports whether x is computed and has truth values in the file.
func (x Value) HoldsTruths() bool { return x.Elements == Truths }

// SetIntegers marks x as integers in the file. Bytes of the graph stay bytes.
func (x *Value) SetIntegers() {
	if x.Elements != Bytes {
		x.Elements = Integers
	}
}

// IsTruth reports whether x has truth values, computed or constant.
func (x Value) IsTruth() bool {
	return x.HoldsTruths() || x.IsConstant() && x.Tensor.DType == tensor.Bool
}

// IsInteger reports whether x has integers, computed or constant.
func (x Value) IsInteger() bool {
	return x.HoldsIntegers() ||
		x.IsConstant() && !element.IsFloat(x.Tensor.DType) && x.Tensor.DType != tensor.Bool
}

// IntegerType returns the integer type of x in the file. It returns 0 if x has no integers, or if their
// type is unknown.
func (x Value) IntegerType() tensor.DType {
	if x.IsConstant() && x.IsInteger() {
		return x.Tensor.DType
	}
	return x.Kind
}

// DType returns the type of x in the file. Computed floats are f32.
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

// HasLength reports whether a constant contains the length of the batch.
func (x Value) HasLength() bool {
	if element.IsFloat(x.Tensor.DType) {
		return false
	}
	l, err := element.IntegersOf(x.Tensor)
	return err == nil && slices.ContainsFunc(l, func(n int64) bool { _, ok := element.TimesBatch(n); return ok })
}
