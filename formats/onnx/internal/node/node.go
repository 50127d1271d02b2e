package node

import (
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Limits for computed constants.
const (
	MaxFolded   = 128 << 20 // bytes, in addition to those of FoldedTimes
	FoldedTimes = 4         // multiple of the size of the file and of its external data
)

// Shared is the state shared by all nodes of a file.
type Shared struct {
	Opset       int
	Batch       int64      // length of the batch if the file fixes it, else 0
	BatchAsAxis bool       // a node uses the file's batch of 1 as an ordinary axis
	FoldBudget  int        // bytes that computed constants may still use
	Types       valueTypes // types of the values of the graph
}

type valueTypes interface{ Type(graph.Value) graph.Type }

// Node is one node of a file with its operands. It keeps its first error. Results after an
// error are empty.
type Node struct {
	*Shared
	Proto     *onnxpb.NodeProto
	In        []Value
	Err       error
	Unbatched bool // the operands that depend on the input, and the results, are unbatched
	// MixesBatch means that Err is about the batch axis. If the file fixes the batch to 1, this
	// axis is like any other.
	MixesBatch bool
}

// ShapeOf returns the shape that the value x has in the graph for one row.
func (s *Shared) ShapeOf(x Value) []int {
	if x.IsGrowing() || x.IsLengths() {
		return x.Tensor.Shape
	}
	return s.Types.Type(x.V).Shape
}

// Tracked reports whether unbatched values have a BatchAxis. They do unless the batch is 1.
func (s *Shared) Tracked() bool { return s.Batch != 1 }

// OverBudget returns the error for constants that are too large.
func (s *Shared) OverBudget() error {
	return fmt.Errorf("the constants that are computed or converted take more than %d MiB and %d times the "+
		"size of the file and its external data", MaxFolded>>20, FoldedTimes)
}

// Fail sets the error of the node, unless it already has one.
func (c *Node) Fail(format string, args ...any) {
	if c.Err == nil {
		c.Err = fmt.Errorf(format, args...)
	}
}

// FailAcrossBatch records an error of an operation along the batch axis.
func (c *Node) FailAcrossBatch(format string, args ...any) {
	c.MixesBatch = c.MixesBatch || c.Err == nil
	c.Fail(format, args...)
}

// Has reports whether operand i is present.
func (c *Node) Has(i int) bool { return i < len(c.Proto.Input) && c.Proto.Input[i] != "" }

// Constant returns operand i, which must be a constant. ok is false if it is absent.
func (c *Node) Constant(i int) (t tensor.Tensor, ok bool) {
	if !c.Has(i) {
		return t, false
	}
	if !c.In[i].IsConstant() {
		c.Fail("operand %d is computed from the input; a constant is supported", i)
		return t, false
	}
	return c.In[i].Tensor, true
}

// Required returns operand i of a fold.
func (c *Node) Required(i int) tensor.Tensor {
	t, ok := c.Constant(i)
	if !ok {
		c.Fail("operand %d is absent", i)
	}
	if c.Err != nil {
		return Nothing
	}
	return t
}

// Dynamic returns operand i, which must depend on the input.
func (c *Node) Dynamic(i int) graph.Value {
	if !c.Has(i) || c.In[i].IsConstant() {
		c.Fail("operand %d is not computed from the input", i)
		return graph.None
	}
	return c.In[i].V
}

// IsDynamic reports whether operand i is present and computed from the input.
func (c *Node) IsDynamic(i int) bool { return c.Has(i) && !c.In[i].IsConstant() }

// Shape returns the shape of a row of operand i.
func (c *Node) Shape(i int) []int {
	if c.Has(i) && c.In[i].IsGrowing() {
		return c.In[i].Tensor.Shape
	}
	v := c.Dynamic(i)
	if v == graph.None {
		return nil
	}
	return c.Types.Type(v).Shape
}

// FileShapeOf returns the shape of operand i in the file for N = 1.
func (c *Node) FileShapeOf(i int) []int {
	if c.In[i].IsConstant() {
		return c.In[i].Tensor.Shape
	}
	return c.ShapeOf(c.In[i])
}

// Dims returns the shape of operand 0 in the file. The length of the batch is open, even if
// the file fixes it.
func (c *Node) Dims() []int64 {
	if !c.Has(0) {
		c.Fail("has no operand")
		return nil
	}
	if x := c.In[0]; x.IsConstant() {
		return element.Widened(x.Tensor.Shape)
	} else if all := element.Widened(c.ShapeOf(x)); x.Unbatched {
		if c.Tracked() {
			all[x.BatchAxis.Axis] = element.BatchTimes(all[x.BatchAxis.Axis])
		}
		return all
	} else {
		return append([]int64{element.AnyBatch}, all...)
	}
}

// Rank returns the rank in the file of operand i, which must depend on the input.
func (c *Node) Rank(i int) int {
	n := len(c.Shape(i))
	if c.Unbatched {
		return n
	}
	return n + 1
}

// SpatialShape returns the shape of operand i, which must be an image or a 1-D sample.
func (c *Node) SpatialShape(i int) []int {
	s := c.Shape(i)
	if c.Err == nil && len(s) != 2 && len(s) != 3 {
		c.Fail("operand %d has the shape %v; images and lines are supported", i, s)
	}
	if c.Err != nil {
		return []int{1, 1, 1}
	}
	return s
}

// Axis converts an axis in the file to an axis of a row of a value. rank is the rank of the row.
func (c *Node) Axis(a int64, rank int) int {
	if c.Unbatched {
		return c.FoldAxis(a, rank)
	}
	given := a
	if a < 0 {
		a += int64(rank) + 1
	}
	switch {
	case a == 0:
		c.FailAcrossBatch("works along the batch axis")
	case a < 0 || a > int64(rank):
		c.Fail("axis %d of a tensor of rank %d", given, rank+1)
	default:
		return int(a - 1)
	}
	return 0
}

// FoldAxis does the same as Axis for constants, which have no batch axis.
func (c *Node) FoldAxis(a int64, rank int) int {
	given := a
	if a < 0 {
		a += int64(rank)
	}
	if a < 0 || a >= int64(rank) {
		c.Fail("axis %d of a tensor of rank %d", given, rank)
		return 0
	}
	return int(a)
}

// AxisOf returns an axis of operand 0 that an attribute names.
func (c *Node) AxisOf(name string, def int) int {
	return c.FoldAxis(int64(c.Int(name, def)), len(c.Shape(0)))
}

// Concrete returns v if it is a number. If v represents a multiple of a batch that the file fixes to 1,
// Concrete returns the multiple. If v represents a multiple of another batch, it fails.
func (c *Node) Concrete(v int64) int64 {
	times, ok := element.TimesBatch(v)
	if !ok {
		return v
	}
	if c.Batch == 1 {
		c.BatchAsAxis = true
		return times
	}
	c.Fail("%w", ErrLength)
	return 1
}

// ErrLength is the error for operations that depend on the length of the batch.
var ErrLength = errors.New("computes with the length of the batch")
