package graph

import "github.com/bnctl/bnctl/tensor"

// OutputOp returns the operation that an output ends in, and the operand of that
// operation, if the operation defines the meaning of the output's numbers:
//
//   - Softmax, LogSoftmax over the first axis of the output: probabilities of
//     classes that exclude each other, or their logarithms. The operand holds
//     the logits.
//   - Sigmoid, HardSigmoid: probabilities of classes that do not exclude each
//     other.
//
// For any other operation, for example a softmax over another axis, it returns 0 and
// the output itself. Reshapes after the operation are ignored if the
// classes stay on the first axis. Training, evaluation and prediction all use
// this rule.
func (f *Function) OutputOp(output int) (Op, Value) {
	v := f.Outputs[output].Value
	shape := f.Values[v].Type.Shape
	makers := f.Makers()
	for from := v; ; {
		n := makers[from]
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
