package node

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/internal/foreign"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// Value is the value of a name in ONNX: rows of the graph, or a constant.
type Value struct {
	V          graph.Value     // graph.None for a constant
	Tensor     tensor.Tensor   // the constant
	File       *foreign.Tensor // the constant, still in the file
	Logits     graph.Value     // the operand of the softmax that made v; graph.None otherwise
	Op         string          // the operator that made v
	Unbatched  bool            // the rows have the whole shape of the file, the batch being 1
	BatchAxis  BatchAxis       // where the batch is in an unbatched value, unless it is 1
	FromArgMax bool            // v are the scores that an ArgMax picks from, along their first axis
	Sequence   bool            // it is a list of values, items
	Items      []Value         // of a sequence
	Picked     []int           // the shape of the picked indices, for a sample
	Integer    bool            // v are integers in the file
	Kind       tensor.DType    // of the integers, if known
	Bytes      bool            // v are bytes of the graph: see quantise.go
	Within     *Extent         // bounds of the numbers, if known
	Truth      bool            // v is 0 or 1, for truth values in the file
	Grows      bool            // they are the integers c and, in row n, n times by more: see growing.go
	By         int64           // the growth from row to row
	Lengths    bool            // c are lengths that are floats in the file: see lengths.go
	Added      string          // a constant already included in v; its only reader adds it
}

// Rows returns the value of rows of the graph.
func Rows(v graph.Value) Value { return Value{V: v, Logits: graph.None} }

// Constant returns the value of a constant.
func Constant(t tensor.Tensor) Value { return Value{V: graph.None, Tensor: t, Logits: graph.None} }

// Growing returns a value of integers: row 0 holds t, and row n holds t + n*by.
func Growing(t tensor.Tensor, by int64, p BatchAxis) Value {
	return Value{Form: Growth, V: graph.None, Logits: graph.None, Tensor: t, By: by, BatchAxis: p}
}

func (x Value) IsGrowing() bool { return x.Grows }

// FloatLengths returns a list of lengths, possibly the batch's, that are floats in the
// file.
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

// IntegerType returns the type of x in the file if it is a known integer type, otherwise 0.
func (x Value) IntegerType() tensor.DType {
	if x.IsConstant() && x.IsInteger() {
		return x.Tensor.DType
	}
	return x.Kind
}

// DType returns the type of a value in the file; all computed floats are f32.
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
