package ref

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Call is one node with computed operands.
type Call struct {
	*graph.Node
	// In has copies of the operands, in order. An absent operand is the zero Tensor. The first
	// axis of a value of kind Rows is rows, and of a value of kind Replica replicas.
	In []tensor.Tensor
	// Out has the results, with the right types and shapes. They are zeros until the kernel sets
	// them.
	Out []tensor.Tensor
	// Owner is the replica of each row.
	Owner []int
}

// Kernel computes a node in place of the reference's loop. It returns false for a node that it
// leaves to the loop. Results are rounded to the precision of the program afterwards.
type Kernel func(c *Call) (done bool, err error)

// Replace makes Run compute the nodes of one operation with k. In this way a device can replace the
// reference's loops operation by operation. AllReduce cannot be replaced, because it needs the group.
// Replace must be called before the first Run.
func (x *Program) Replace(op graph.Op, k Kernel) {
	if op == graph.AllReduce {
		panic("ref: AllReduce cannot be replaced")
	}
	if x.kernels == nil {
		x.kernels = map[graph.Op]Kernel{}
	}
	x.kernels[op] = k
}

// replaced computes c with a kernel, and reports whether the kernel did.
func (c *call) replaced(k Kernel) bool {
	call := &Call{Node: c.Node, Owner: slices.Clone(c.owner)}
	for i := range c.In {
		var t tensor.Tensor
		if a := c.in(i); a != nil {
			t = a.tensor(a.typ.DType, 0, a.lead)
		}
		call.In = append(call.In, t)
	}
	for i := range c.Out {
		a := c.out(i)
		call.Out = append(call.Out, tensor.New(a.typ.DType, fullShape(a.typ, a.lead)...))
	}
	want := slices.Clone(call.Out)
	done, err := k(call)
	if err != nil || !done {
		c.err = err
		return done && err == nil
	}
	for i, v := range c.Node.Out {
		a, t := c.values[v], call.Out[i]
		if t.DType != want[i].DType || !slices.Equal(t.Shape, want[i].Shape) {
			c.err = fmt.Errorf("the kernel returned %v, want %v", t, want[i])
			return true
		}
		c.values[v] = fromTensor(a.typ, a.lead, t)
	}
	return true
}
