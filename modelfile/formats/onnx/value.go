package onnx

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/internal/foreign"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// value is what a name of ONNX stands for: rows of the graph, or a constant.
type value struct {
	v          graph.Value     // graph.None for a constant
	c          tensor.Tensor   // the constant
	file       *foreign.Tensor // the constant, still in the file
	logits     graph.Value     // what a softmax made v of; graph.None otherwise
	op         string          // the operator that made v
	unbatched  bool            // the rows have the whole shape of the file, the batch being 1
	batchAxis  batchAxis       // where the batch is in an unbatched value, unless it is 1
	fromArgMax bool            // v are the scores that an ArgMax picks from, along their first axis
	sequence   bool            // it is a list of values, items
	items      []value         // of a sequence
	picked     []int           // the shape of what it picks, for a sample
	integer    bool            // v are integers in the file
	kind       tensor.DType    // of the integers, where it is known
	bytes      bool            // v are bytes of the graph: see quantise.go
	within     *extent         // that the numbers do not leave, where it is known
	truth      bool            // v is 0 and 1, where the file has truth values
	grows      bool            // they are the integers c and, in row n, n times by more: see growing.go
	by         int64           // what they grow by from row to row
	lengths    bool            // c are lengths that are floats in the file: see lengths.go
	added      string          // the constant that is a part of v already, which its only reader adds
}

func rows(v graph.Value) value       { return value{v: v, logits: graph.None} }
func constant(t tensor.Tensor) value { return value{v: graph.None, c: t, logits: graph.None} }
func (x value) isConstant() bool     { return x.v == graph.None && !x.grows && !x.lengths }

// growing is a value of integers of which row n has those in t, those of row 0, and n times by more.
func growing(t tensor.Tensor, by int64, p batchAxis) value {
	return value{v: graph.None, logits: graph.None, c: t, grows: true, by: by, batchAxis: p}
}

func (x value) isGrowing() bool { return x.grows }

// floatLengths is a list of lengths, the batch's too, that are floats in the file.
func floatLengths(t tensor.Tensor) value {
	return value{v: graph.None, logits: graph.None, c: t, lengths: true}
}

func (x value) isLengths() bool { return x.lengths }

func (x value) isTruth() bool {
	return x.truth || x.isConstant() && x.c.DType == tensor.Bool
}

func (x value) isInteger() bool {
	return x.integer || x.isConstant() && !element.IsFloat(x.c.DType) && x.c.DType != tensor.Bool
}

// integerType is the type that x has in the file, if it is known and one of integers; else 0.
func (x value) integerType() tensor.DType {
	if x.isConstant() && x.isInteger() {
		return x.c.DType
	}
	return x.kind
}

// dtype is the type that a value has in the file; all floats that are computed are f32.
func (x value) dtype() tensor.DType {
	switch {
	case x.isConstant():
		return x.c.DType
	case x.truth:
		return tensor.Bool
	case x.integer:
		return cmp.Or(x.kind, tensor.I64)
	}
	return tensor.F32
}

// hasLength reports whether a constant has the length of the batch among its numbers.
func (x value) hasLength() bool {
	if element.IsFloat(x.c.DType) {
		return false
	}
	l, err := element.IntegersOf(x.c)
	return err == nil && slices.ContainsFunc(l, func(n int64) bool { _, ok := element.TimesBatch(n); return ok })
}
