package node

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/internal/foreign"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// Value is what a name of ONNX stands for: rows of the graph, or a constant.
type Value struct {
	V          graph.Value     // graph.None for a constant
	Tensor     tensor.Tensor   // the constant
	File       *foreign.Tensor // the constant, still in the file
	Logits     graph.Value     // what a softmax made v of; graph.None otherwise
	Op         string          // the operator that made v
	Unbatched  bool            // the rows have the whole shape of the file, the batch being 1
	BatchAxis  BatchAxis       // where the batch is in an unbatched value, unless it is 1
	FromArgMax bool            // v are the scores that an ArgMax picks from, along their first axis
	Sequence   bool            // it is a list of values, items
	Items      []Value         // of a sequence
	Picked     []int           // the shape of what it picks, for a sample
	Integer    bool            // v are integers in the file
	Kind       tensor.DType    // of the integers, where it is known
	Bytes      bool            // v are bytes of the graph: see quantise.go
	Within     *Extent         // that the numbers do not leave, where it is known
	Truth      bool            // v is 0 and 1, where the file has truth values
	Grows      bool            // they are the integers c and, in row n, n times by more: see growing.go
	By         int64           // what they grow by from row to row
	Lengths    bool            // c are lengths that are floats in the file: see lengths.go
	Added      string          // the constant that is a part of v already, which its only reader adds
}

func Rows(v graph.Value) Value       { return Value{V: v, Logits: graph.None} }
func Constant(t tensor.Tensor) Value { return Value{V: graph.None, Tensor: t, Logits: graph.None} }
func (x Value) IsConstant() bool     { return x.V == graph.None && !x.Grows && !x.Lengths }

// Growing is a value of integers of which row n has those in t, those of row 0, and n times by more.
func Growing(t tensor.Tensor, by int64, p BatchAxis) Value {
	return Value{V: graph.None, Logits: graph.None, Tensor: t, Grows: true, By: by, BatchAxis: p}
}

func (x Value) IsGrowing() bool { return x.Grows }

// FloatLengths is a list of lengths, the batch's too, that are floats in the file.
func FloatLengths(t tensor.Tensor) Value {
	return Value{V: graph.None, Logits: graph.None, Tensor: t, Lengths: true}
}

func (x Value) IsLengths() bool { return x.Lengths }

func (x Value) IsTruth() bool {
	return x.Truth || x.IsConstant() && x.Tensor.DType == tensor.Bool
}

func (x Value) IsInteger() bool {
	return x.Integer || x.IsConstant() && !element.IsFloat(x.Tensor.DType) && x.Tensor.DType != tensor.Bool
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
	case x.Truth:
		return tensor.Bool
	case x.Integer:
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
