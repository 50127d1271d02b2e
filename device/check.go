package device

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Check returns what is wrong with a step of fn on an executable of a capacity, as
// a device whose group gives it so many replicas finds before it runs it; replicas
// is -1 without a group. A nil fn is one that the program has not.
func (s Step) Check(fn *graph.Function, c Capacity, replicas int) error {
	switch {
	case fn == nil:
		return errors.New("the program has no such function")
	case s.Function == graph.Commit:
		return errors.New("the function is run by Commit")
	case len(s.Inputs) != len(fn.Inputs):
		return fmt.Errorf("%d inputs, want %d", len(s.Inputs), len(fn.Inputs))
	}
	total := 0
	for r, n := range s.Rows {
		if n < 0 || n > c.Rows {
			return fmt.Errorf("replica %d has %d rows; the capacity is %d", r, n, c.Rows)
		}
		total += n
	}
	if total > c.Rows || len(s.Rows) > c.Replicas {
		return fmt.Errorf("%d rows in %d replicas; the capacity is %d in %d",
			total, len(s.Rows), c.Rows, c.Replicas)
	}
	if replicas >= 0 && replicas != len(s.Rows) && fn.Reduces() {
		return fmt.Errorf("rows for %d replicas; the group gives this device %d", len(s.Rows), replicas)
	}
	for i, id := range fn.Inputs {
		v := fn.Values[id]
		want := v.Type.Sized(total, len(s.Rows))
		if t := s.Inputs[i]; !fits(t, v.Type.DType, want) {
			return fmt.Errorf("input %s is %v, want %s", v.Name, t, tensor.Describe(v.Type.DType, want))
		}
	}
	return nil
}

// fits reports whether t has a type and a shape, and all of its bytes.
func fits(t tensor.Tensor, d tensor.DType, shape []int) bool {
	return t.DType == d && slices.Equal(t.Shape, shape) && len(t.Bytes) == tensor.Count(shape)*d.Size()
}

// Kept is what an executable keeps of its last run of graph.Train for Commit.
type Kept struct {
	Has bool    // anything
	For Version // of the state that the run read
}

// Check returns what is wrong with a commit of version v to a state at version at.
func (k Kept) Check(v, at Version) error {
	switch {
	case at != v:
		return fmt.Errorf("version %d is to be committed, the state is at %d", v, at)
	case !k.Has || k.For != v:
		return problem.Advise("run "+graph.Train+" first", "nothing is kept for version %d", v)
	}
	return nil
}

// Scalar returns the hyper-parameter of a name as the tensor that Commit's function takes.
func (h Hyper) Scalar(name string) (tensor.Tensor, error) {
	x, ok := h[name]
	if !ok {
		return tensor.Tensor{}, fmt.Errorf("hyper-parameter %s is missing", name)
	}
	return tensor.Scalar(x), nil
}

// Wrap returns err as an error of a call on a device, keeping its kind: a group that
// ended is Aborted, a context that did Canceled. A nil err stays nil.
func Wrap(device, call string, err error) error {
	if err == nil {
		return nil
	}
	kind := KindOf(err)
	switch {
	case errors.Is(err, collective.Aborted):
		kind = Aborted
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		kind = Canceled
	}
	return Errorf(device, call, kind, "%w", err)
}
