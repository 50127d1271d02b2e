package device

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Check returns an error if the step is invalid for p and an executable of capacity c.
// Devices call Check before they run a step. replicas is the result of Group.LocalReplicas.
func (s Step) Check(p *graph.Program, c Capacity, replicas int) error {
	fn := p.Function(s.Function)
	switch {
	case fn == nil:
		return errors.New("the program has no such function")
	case s.Function == graph.Commit:
		return errors.New("the function is run by Commit")
	}
	given := p.Given(fn)
	if len(s.Inputs) != len(given) {
		return fmt.Errorf("%d inputs, want %d", len(s.Inputs), len(given))
	}
	total := 0
	for r, n := range s.Rows {
		if n < 0 || n > c.Rows {
			return fmt.Errorf("replica %d has %d rows; the capacity is %d", r, n, c.Rows)
		}
		total += n
	}
	// Reduce reads sums of gradients, so the capacity for rows and replicas does not apply to it.
	if s.Function != graph.Reduce && (total > c.Rows || len(s.Rows) > c.Replicas) {
		return fmt.Errorf("%d rows in %d replicas; the capacity is %d in %d",
			total, len(s.Rows), c.Rows, c.Replicas)
	}
	if replicas >= 0 && replicas != len(s.Rows) && fn.Reduces() {
		return fmt.Errorf("rows for %d replicas; the group gives this device %d", len(s.Rows), replicas)
	}
	for i, id := range given {
		v := fn.Values[id]
		want := v.Type.Sized(total, len(s.Rows))
		if t := s.Inputs[i]; !fits(t, v.Type.DType, want) {
			return fmt.Errorf("input %s is %v, want %s", v.Name, t, tensor.Describe(v.Type.DType, want))
		}
	}
	return nil
}

// CheckProgram returns an error if no device of this release can load p. The error reads like an error of
// a call of Load on the named device. If p has nodes with an operation or an attribute that this release
// does not know, for example because p is from a later release, the error is a *Refused and wraps
// Unsupported. Otherwise it wraps Invalid.
func CheckProgram(device string, p *graph.Program) error {
	var r Refused
	for _, f := range p.Functions {
		for i := range f.Nodes {
			n := &f.Nodes[i]
			if why := n.Unknown(); why != "" {
				r.Nodes = append(r.Nodes, Refusal{Function: f.Name, Node: f.NodeName(n), Op: n.Op, Why: why})
			}
		}
	}
	if len(r.Nodes) > 0 {
		return Errorf(device, "Load", Unsupported, "%w", &r)
	}
	if err := p.Check(); err != nil {
		return Errorf(device, "Load", Invalid, "%w", err)
	}
	return nil
}

// Check returns an error if one of the numbers in c is negative. Load and Grow call it.
func (c Capacity) Check() error {
	if c.Rows < 0 || c.Replicas < 0 {
		return fmt.Errorf("capacity of %d rows in %d replicas", c.Rows, c.Replicas)
	}
	if c.Slots < 0 || c.Leaves < 0 {
		return fmt.Errorf("capacity of %d slots and %d leaves", c.Slots, c.Leaves)
	}
	return nil
}

// With returns the capacity of an executable of capacity c after Grow(other). Each number is the larger of
// the two.
func (c Capacity) With(other Capacity) Capacity {
	return Capacity{Rows: max(c.Rows, other.Rows), Replicas: max(c.Replicas, other.Replicas),
		Slots: max(c.Slots, other.Slots), Leaves: max(c.Leaves, other.Leaves)}
}

// fits reports whether t has element type d and the given shape, and as many bytes as they need.
func fits(t tensor.Tensor, d tensor.DType, shape []int) bool {
	return t.DType == d && slices.Equal(t.Shape, shape) && len(t.Bytes) == tensor.Count(shape)*d.Size()
}
