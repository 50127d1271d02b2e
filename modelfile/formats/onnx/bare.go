package onnx

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// A file that fixes the batch to 1 may drop that axis: reshape (1,1000,1,1) to
// (1000), or (1,8,4) to (8,4). Such a value is bare: here it has rows like any
// other, and its axes count from the first of those.

// onBare are the operators that a bare value may meet: they count axes by
// call.axis, or none.
var onBare = map[string]bool{"Relu": true, "Sigmoid": true, "Tanh": true,
	"Exp": true, "Log": true, "Sqrt": true,
	"Softplus": true, "Softsign": true, "Neg": true, "Abs": true, "LeakyRelu": true, "Elu": true, "Selu": true,
	"HardSigmoid": true, "HardSwish": true, "Clip": true, "Softmax": true, "LogSoftmax": true, "Reshape": true,
	"Squeeze": true, "Unsqueeze": true, "Flatten": true, "Concat": true, "Slice": true, "Split": true,
	"ReduceMean": true, "ReduceSum": true, "ReduceMax": true, "ReduceMin": true, "ArgMax": true,
	"Identity": true, "Cast": true, "Dropout": true, "Shape": true}

// afterPick are the operators that may stand between an ArgMax and the output.
var afterPick = []string{"Identity", "Cast", "Squeeze", "Unsqueeze", "Reshape", "Flatten"}

// checkBare sees whether the operands have their batch axis.
func (c *call) checkBare(op string) error {
	with := false
	for i, x := range c.in {
		if x.isConstant() {
			continue
		}
		if x.picked && (i > 0 || !slices.Contains(afterPick, op)) {
			return fmt.Errorf("takes the result of an ArgMax, which is supported only as an output")
		}
		c.bare = c.bare || x.bare
		with = with || !x.bare
	}
	switch {
	case c.bare && !onBare[op]:
		return fmt.Errorf("of a value that has lost its batch axis is not supported")
	case c.bare && with:
		return fmt.Errorf("of values with a batch axis and without one is not supported")
	}
	return nil
}

// bared returns the shape of rows that stand for a whole shape of the file, in
// which a first length of 1 is the batch.
func (c *call) bared(shape []int) []int {
	c.bare = len(shape) == 0 || shape[0] != 1
	if c.bare {
		return shape
	}
	return shape[1:]
}

// whole returns the shape that operand 0 has in a file that fixes the batch to 1.
func (c *call) whole() []int {
	if c.bare {
		return c.shape(0)
	}
	return append([]int{1}, c.shape(0)...)
}

// single reports whether the batch may be dropped, or has been.
func (c *call) single() bool { return c.bare || c.batch == 1 }

// reshapeWhole is Reshape of a batch of 1 to any shape.
func reshapeWhole(c *call, target []int64) graph.Value {
	from := c.whole()
	for i, n := range target {
		if n == anyBatch {
			target = slices.Clone(target)
			target[i] = 1
		}
	}
	shape, err := resolve(target, from, c.int("allowzero", 0) != 0)
	if err != nil {
		c.fail("to %s: %w", printed(target), err)
		return graph.None
	}
	return c.node(graph.Reshape, "", []graph.Value{c.flow(0)}, "shape", c.bared(shape))
}

// argMax passes on the scores that it picks from: the graph has no integers,
// and who predicts picks the largest anyway.
func argMax(c *call) []value {
	s := c.shape(0)
	if len(s) == 0 || c.axis(int64(c.int("axis", 0)), len(s)) != 0 && tensor.Count(s) != s[len(s)-1] {
		c.fail("along another axis than that of the classes, the first behind the batch, is not supported")
	}
	if c.int("select_last_index", 0) != 0 {
		c.fail("with select_last_index is not supported")
	}
	out := c.in[0]
	out.picked = true
	return []value{out}
}

// squeezeWhole is Squeeze of a batch of 1, which may go as any axis of 1.
func squeezeWhole(c *call, axes []int64, given bool) graph.Value {
	from, bare := c.whole(), c.bare
	drop := make([]bool, len(from))
	for a, n := range from {
		drop[a] = !given && n == 1
	}
	for _, a := range axes {
		if at := c.foldAxis(a, len(from)); c.err == nil {
			drop[at] = true
		}
	}
	var shape []int
	for a, n := range from {
		switch {
		case drop[a] && n != 1:
			c.fail("axis %d has the length %d", a, n)
		case !drop[a] && (a > 0 || bare):
			shape = append(shape, n)
		}
	}
	c.bare = bare || len(drop) > 0 && drop[0]
	return c.node(graph.Reshape, "", []graph.Value{c.flow(0)}, "shape", shape)
}
