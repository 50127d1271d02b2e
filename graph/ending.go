package graph

import (
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// Ending returns the operation that an output ends in, and the value that this
// operation takes, if it tells what the output's numbers are:
//
//   - Softmax, LogSoftmax over the first axis of the output: probabilities of
//     classes that exclude each other, or their logarithms. What it takes are
//     logits.
//   - Sigmoid, HardSigmoid: probabilities of things that do not.
//
// It is 0, with the output's own value, for anything else: a softmax over
// another axis says nothing of classes. Reshapes behind the operation count as
// long as the classes stay on the first axis. Training, evaluation and
// prediction all go by this.
func (f *Function) Ending(output int) (Op, Value) {
	v := f.Outputs[output].Value
	shape := f.Values[v].Type.Shape
	for from := v; ; {
		n := f.maker(from)
		if n == nil {
			return 0, v
		}
		switch n.Op {
		case Reshape, Gather:
			from = n.In[0]
		case Sigmoid, HardSigmoid:
			return n.Op, n.In[0]
		case Softmax, LogSoftmax:
			if over := f.Values[n.In[0]].Type.Shape; !firstAxis(over, n.Int("axis"), shape) {
				return 0, v
			}
			return n.Op, n.In[0]
		default:
			return 0, v
		}
	}
}

// firstAxis reports whether an axis of a shape is the first one of another
// shape of the same elements in the same order.
func firstAxis(shape []int, axis int, other []int) bool {
	return len(other) > 0 && tensor.Count(shape[:axis]) == 1 && shape[axis] == other[0]
}

// maker returns the node that makes v, nil if it is an input or state.
func (f *Function) maker(v Value) *Node {
	for i := range f.Nodes {
		if slices.Contains(f.Nodes[i].Out, v) {
			return &f.Nodes[i]
		}
	}
	return nil
}
