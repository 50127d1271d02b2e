package losses

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// These inputs of a training function are for all losses.
const (
	InputLabels  = "labels"          // rows i32[...]: -1 is ignored
	InputInverse = step.InputInverse // whole f32[]: 1/denominator of the loss
)

// Nodes are the values of a training function that depend on the loss.
type Nodes struct {
	Sum graph.Value // sum of the loss over the rows of each replica
	Of  string      // attribute of AllReduce: how Sum is reduced
	// Partners is the sum for the second labels of mixed rows, of each replica; otherwise None.
	Partners graph.Value
	Hits     graph.Value // number of correct and of counted labels, of each replica; None for losses of numbers
	// Positives has the moments of the cells with an object, of each replica; None for other losses.
	Positives graph.Value
	// Seed returns the gradient of outputs.
	Seed func(name string, outputs graph.Value) graph.Value
}

// tape adds the operations of a loss to a function.
type tape struct {
	Builder    *graph.Builder
	From       *graph.Function // the graph with the outputs
	loss       *Loss
	perReplica bool
	inputs     map[string]graph.Value // inputs of the loss, by name
}

// op adds an operation of the loss.
func (t *tape) op(op graph.Op, name string, operands []graph.Value, pairs ...any) graph.Value {
	return t.Builder.Op(op, t.Builder.UniqueName(name), operands, pairs...)
}

// input declares rows f32 of a shape, once.
func (t *tape) input(name string, shape []int) graph.Value {
	v, ok := t.inputs[name]
	if !ok {
		v = t.Builder.Input(name, graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: append([]int{}, shape...)})
		t.inputs[name] = v
	}
	return v
}

// labels declares the labels of the rows.
func (t *tape) labels(shape []int) graph.Value {
	return t.Builder.Input(InputLabels, graph.Type{Kind: graph.Rows, DType: tensor.I32,
		Shape: append([]int{}, shape...)})
}

// inverse declares InputInverse.
func (t *tape) inverse() graph.Value {
	return t.Builder.Input(InputInverse, graph.Type{Kind: graph.Whole, DType: tensor.F32})
}

// rows returns the rows [from, to) of x, which is [rows, A].
func (t *tape) rows(name string, x graph.Value, from, to int) graph.Value {
	s := t.Builder.Type(x).Shape
	return t.op(graph.Slice, name, []graph.Value{x}, "begin", []int{from, 0}, "end", []int{to, s[1]})
}

// gradient returns the gradient of outputs, which seeds determine. Only the first output of the graph has
// a loss of boxes.
func (t *tape) gradient(of, outputs graph.Value, seeds func() map[graph.Value]graph.Value) graph.Value {
	if of != outputs {
		t.Builder.Fail(fmt.Errorf("graph %s: auxiliary heads have no loss of boxes", t.From.Name))
		return graph.None
	}
	grads, err := graph.Gradient(t.Builder, seeds(), []graph.Value{outputs})
	if err != nil {
		t.Builder.Fail(err)
		return graph.None
	}
	return grads[outputs]
}
