package devicetest

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// trained is the result of a training: losses and counts of all steps, and the final state.
type trained struct {
	loss  [][]tensor.Tensor // loss and count of each step
	state []tensor.Tensor
}

// trainOn trains on a group of devices and checks that all hold the same state.
func (n network) trainOn(ctx context.Context, open Opener, placement ...[]int) (*trained, error) {
	s, err := n.setting(graph.Train, batches[0]...)
	if err != nil {
		return nil, err
	}
	p, err := openGroup(ctx, open, s, placement...)
	if err != nil {
		return nil, err
	}
	defer p.close()
	t := &trained{}
	if err := n.steps(ctx, p, t, 0, len(batches)); err != nil {
		return nil, err
	}
	return t, n.readAll(ctx, t, p)
}

// steps runs and commits some of the batches.
func (n network) steps(ctx context.Context, p *testGroup, t *trained, from, to int) error {
	for step := from; step < to; step++ {
		s, err := n.setting(graph.Train, batches[step]...)
		if err != nil {
			return err
		}
		out, err := p.run(ctx, s, uint64(step))
		if err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
		t.loss = append(t.loss, out[0][1:3])
		if err := p.commit(ctx, device.Version(step), n.rule.values); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
	return nil
}

// readAll reads the state of all members, which must be the same.
func (n network) readAll(ctx context.Context, t *trained, p *testGroup) error {
	for rank, m := range p.members {
		state, err := read(ctx, m.x, n.names())
		if err != nil {
			return err
		}
		if rank == 0 {
			t.state = state
		}
		if err := equal(state, t.state, tensor.Tolerance{}, n.names()); err != nil {
			return fmt.Errorf("rank %d holds another state than rank 0: %w", rank, err)
		}
	}
	return nil
}

// compareFar compares the results of training at precision BF16. plain is ref's result at F32.
// The errors of steps add up, so the permitted error of losses and state tensors is about twice
// the difference between want and plain. The number of correct labels may differ by one more.
func (n network) compareFar(t, want, plain *trained) error {
	near := func(got, want, plain tensor.Tensor, more float64) error {
		return tensor.Close(got, want, tensor.Tolerance{Relative: spacing,
			Absolute: more + trainingTolerance.Absolute + 2*farthest(want, plain)})
	}
	for step := range want.loss {
		for i, oneLabel := range []float64{0, 1} {
			if err := near(t.loss[step][i], want.loss[step][i], plain.loss[step][i], oneLabel); err != nil {
				return fmt.Errorf("step %d: %s: %w", step, outputNames[1+i], err)
			}
		}
	}
	for i, name := range n.names() {
		if err := near(t.state[i], want.state[i], plain.state[i], 0); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// compare compares the losses and the state of two trainings.
func (n network) compare(t, want *trained, tol tensor.Tolerance) error {
	for step := range want.loss {
		if err := equal(t.loss[step], want.loss[step], tol, outputNames[1:3]); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
	return equal(t.state, want.state, tol, n.names())
}
