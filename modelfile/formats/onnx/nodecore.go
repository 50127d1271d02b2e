package onnx

import (
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// Limits on constants that are computed.
const (
	maxFolded   = 128 << 20 // bytes, in addition to
	foldedTimes = 4         // times the size of the file and of its external data
)

// Shared is what all nodes of a file have in common.
type Shared struct {
	opset       int
	batch       int64      // the length of the batch if the file fixes it, else 0
	batchAsAxis bool       // something takes the file's batch of 1 for an axis like any other
	foldBudget  int        // bytes that constants may still take that are computed
	types       valueTypes // of the values of the graph
}

type valueTypes interface{ Type(graph.Value) graph.Type }

// Node is one node of a file with its operands. The first error sticks: results after it are empty.
type Node struct {
	*Shared
	n         *onnxpb.NodeProto
	in        []value
	err       error
	unbatched bool // the operands from the input, and then the results, have no batch axis in the file
	// mixesBatch reports that err is about the batch axis, which is no different from
	// another one where the file fixes the batch to 1.
	mixesBatch bool
}

// shapeOf returns the shape of rows.
func (s *Shared) shapeOf(x value) []int {
	if x.grows || x.lengths {
		return x.c.Shape
	}
	return s.types.Type(x.v).Shape
}

// tracked reports whether unbatched values have a batchAxis; with a batch of 1 they have none.
func (s *Shared) tracked() bool { return s.batch != 1 }

// overBudget is the error of constants that are too large.
func (s *Shared) overBudget() error {
	return fmt.Errorf("the constants that are computed or converted take more than %d MiB and %d times the "+
		"size of the file and its external data", maxFolded>>20, foldedTimes)
}

func (c *Node) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// failAcrossBatch fails because of what works along the batch axis.
func (c *Node) failAcrossBatch(format string, args ...any) {
	c.mixesBatch = c.mixesBatch || c.err == nil
	c.fail(format, args...)
}

// has reports whether operand i is there.
func (c *Node) has(i int) bool { return i < len(c.n.Input) && c.n.Input[i] != "" }

// constant returns operand i, which must be a constant; ok is false if it is absent.
func (c *Node) constant(i int) (t tensor.Tensor, ok bool) {
	if !c.has(i) {
		return t, false
	}
	if !c.in[i].isConstant() {
		c.fail("operand %d is computed from the input; a constant is supported", i)
		return t, false
	}
	return c.in[i].c, true
}

// required returns operand i of a fold.
func (c *Node) required(i int) tensor.Tensor {
	t, ok := c.constant(i)
	if !ok {
		c.fail("operand %d is absent", i)
	}
	if c.err != nil {
		return nothing
	}
	return t
}

// dynamic returns operand i, which must be rows.
func (c *Node) dynamic(i int) graph.Value {
	if !c.has(i) || c.in[i].isConstant() {
		c.fail("operand %d is not computed from the input", i)
		return graph.None
	}
	return c.in[i].v
}

// isDynamic reports whether operand i is there and computed from the input.
func (c *Node) isDynamic(i int) bool { return c.has(i) && !c.in[i].isConstant() }

// shape returns the shape of the rows of operand i.
func (c *Node) shape(i int) []int {
	if c.has(i) && c.in[i].grows {
		return c.in[i].c.Shape
	}
	v := c.dynamic(i)
	if v == graph.None {
		return nil
	}
	return c.types.Type(v).Shape
}

// fileShapeOf returns the shape of operand i in the file, N being 1.
func (c *Node) fileShapeOf(i int) []int {
	if c.in[i].isConstant() {
		return c.in[i].c.Shape
	}
	return c.shapeOf(c.in[i])
}

// dims returns the shape of operand 0 in the file; the batch stays open, also
// where the file fixes it.
func (c *Node) dims() []int64 {
	if !c.has(0) {
		c.fail("has no operand")
		return nil
	}
	if x := c.in[0]; x.isConstant() {
		return element.Widened(x.c.Shape)
	} else if all := element.Widened(c.shapeOf(x)); x.unbatched {
		if c.tracked() {
			all[x.batchAxis.axis] = element.BatchTimes(all[x.batchAxis.axis])
		}
		return all
	} else {
		return append([]int64{element.AnyBatch}, all...)
	}
}

// rank returns the rank that operand i, rows, has in the file.
func (c *Node) rank(i int) int {
	n := len(c.shape(i))
	if c.unbatched {
		return n
	}
	return n + 1
}

// spatialShape returns the shape of operand i, which must be an image or a line.
func (c *Node) spatialShape(i int) []int {
	s := c.shape(i)
	if c.err == nil && len(s) != 2 && len(s) != 3 {
		c.fail("operand %d has the shape %v; images and lines are supported", i, s)
	}
	if c.err != nil {
		return []int{1, 1, 1}
	}
	return s
}

// axis returns an axis of the rows of a value of a rank without the batch.
func (c *Node) axis(a int64, rank int) int {
	if c.unbatched {
		return c.foldAxis(a, rank)
	}
	if a < 0 {
		a += int64(rank) + 1
	}
	switch {
	case a == 0:
		c.failAcrossBatch("works along the batch axis")
	case a < 0 || a > int64(rank):
		c.fail("axis %d of a tensor of rank %d", a, rank+1)
	default:
		return int(a - 1)
	}
	return 0
}

// foldAxis is axis for constants, which have no batch axis.
func (c *Node) foldAxis(a int64, rank int) int {
	if a < 0 {
		a += int64(rank)
	}
	if a < 0 || a >= int64(rank) {
		c.fail("axis %d of a tensor of rank %d", a, rank)
		return 0
	}
	return int(a)
}

// axisOf returns an axis of operand 0 that an attribute names.
func (c *Node) axisOf(name string, def int) int {
	return c.foldAxis(int64(c.int(name, def)), len(c.shape(0)))
}

// concrete returns v, and 1 for the length of a batch that the file fixes to 1; it
// fails if v stands for the length of another batch.
func (c *Node) concrete(v int64) int64 {
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

// errLength refuses what depends on how long the batch is.
var errLength = errors.New("computes with the length of the batch")
