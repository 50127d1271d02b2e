package weightsync

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// With a span of 2, each gradient is due in its step or one or two steps later, as drawn
// from the seed:
//
//	step              0      1      2      3
//	replica 0      g0 ---------> due          (2 late)
//	replica 1      g0 due                     (at once)
//	replica 0             g1 --> due          (1 late)
//	update            sum    sum    sum: g0 of r0, then g1 of r0, then ...

// StaleGradients holds the waiting gradients of Sync "async:S". The gradients of replica r
// in step t are applied with the update of step t + delay(seed, r, t), at most S steps
// later. The delays are drawn from the seed, so the result is the same on any devices. With
// the same span, the moments of a replica (bn.Async) are delayed by the same number of
// steps as its gradients.
//
// A StaleGradients never changes.
type StaleGradients struct {
	trained []graph.State
	delays  tensor.Philox
	// waiting[k][i] is the sum of the gradients for tensor i that are due k+1 steps from
	// now; the zero Tensor if there are no gradients.
	waiting [][]tensor.Tensor
	counts  Staleness
}

// NewStaleGradients returns an empty StaleGradients for the gradients of the tensors in trained.
func NewStaleGradients(trained []graph.State, seed uint64, span int) *StaleGradients {
	l := &StaleGradients{trained: trained, delays: tensor.NewPhilox(seed, tensor.StreamDelay),
		counts: Staleness{Waiting: make([]Due, span)}}
	for range span {
		l.waiting = append(l.waiting, make([]tensor.Tensor, len(trained)))
	}
	return l
}

// DueState declares the state tensor that holds the due gradient of a trained tensor for an
// update.
func DueState(trained graph.State) graph.State {
	return graph.State{Name: "due/" + trained.Name, DType: trained.DType, Shape: trained.Shape,
		Role: graph.Optimizer, Init: graph.Init{Rule: "zeros"}}
}

// Next adds the gradients of a step, one f32 [R, ...] for each trained tensor; rows is the
// number of rows of each replica. It returns the gradients that are due in that step, by
// the names of DueState, and the gradients that still wait. Older gradients are added
// first; those from the same step are summed along the canonical tree. An error wraps
// device.NonFinite and names a tensor. It also names the replica, unless only the sum
// overflows.
func (l *StaleGradients) Next(step int, gradients []tensor.Tensor, rows []int) (
	due map[string]tensor.Tensor, next *StaleGradients, err error) {
	sums := [][]tensor.Tensor{make([]tensor.Tensor, len(l.trained))}
	if len(l.waiting) > 0 {
		sums = append(slices.Clone(l.waiting), sums[0])
	}
	for delay := range sums {
		take := func(r int) bool { return rows[r] > 0 && l.delay(step, r) == delay }
		if sums[delay], err = l.add(sums[delay], gradients, take); err != nil {
			return nil, nil, err
		}
	}
	due = map[string]tensor.Tensor{}
	for i, s := range l.trained {
		t := sums[0][i]
		if t.IsZero() {
			t = tensor.New(s.DType, s.Shape...)
		}
		due[DueState(s).Name] = t
	}
	var delays []int
	for r, n := range rows {
		if n > 0 {
			delays = append(delays, l.delay(step, r))
		}
	}
	return due, &StaleGradients{l.trained, l.delays, sums[1:], l.counts.next(delays)}, nil
}

// Staleness returns the counts so far.
func (l *StaleGradients) Staleness() Staleness { return l.counts }

// delay returns the delay of replica r in a step: uniform from 0 to the span.
func (l *StaleGradients) delay(step, r int) int {
	d := l.delays.Draws(uint32(r), uint64(step))
	return d.Intn(len(l.waiting) + 1)
}

// add returns sums plus the gradients of some replicas.
func (l *StaleGradients) add(sums, gradients []tensor.Tensor, take func(r int) bool) (
	[]tensor.Tensor, error) {
	out := make([]tensor.Tensor, len(sums))
	for i, g := range gradients {
		dueSum := collective.Reduce(collective.Sum, collective.Root(g.Shape[0]), func(r int) tensor.Tensor {
			if !take(r) {
				return tensor.Tensor{}
			}
			return g.Rows(r, r+1).Clone().Reshape(l.trained[i].Shape...) // a copy, because Reduce writes into it
		})
		switch old := sums[i]; {
		case dueSum.IsZero():
			out[i] = old
		case old.IsZero():
			out[i] = dueSum
		default:
			collective.Add(dueSum, old, dueSum)
			out[i] = dueSum
		}
		if !dueSum.IsZero() && !device.AllFinite(out[i].F32()) {
			return nil, l.notFinite(i, out[i], gradients[i], take)
		}
	}
	return out, nil
}

// notFinite returns an error that describes the sum of the gradients of tensor i.
func (l *StaleGradients) notFinite(i int, sum, gradients tensor.Tensor, take func(r int) bool) error {
	name := step.GradientPrefix + l.trained[i].Name
	for r := range gradients.Shape[0] {
		if !take(r) {
			continue
		}
		if err := device.Finite(name, gradients.Rows(r, r+1).Clone().Reshape(sum.Shape...)); err != nil {
			return fmt.Errorf("replica %d: %w: %w", r, device.NonFinite, err)
		}
	}
	return fmt.Errorf("%w: the sum of %w", device.NonFinite, device.Finite(name, sum))
}

// Tensors returns the waiting sums. Their names are "K/NAME": sums for the trained tensor NAME that
// are due K steps from now.
func (l *StaleGradients) Tensors() map[string]tensor.Tensor {
	out := map[string]tensor.Tensor{}
	for k, sums := range l.waiting {
		for i, t := range sums {
			if !t.IsZero() {
				out[l.name(k, i)] = t
			}
		}
	}
	return out
}

func (l *StaleGradients) name(k, i int) string { return fmt.Sprintf("%d/%s", k+1, l.trained[i].Name) }

// Restored returns a StaleGradients with the waiting gradients that Tensors returned and
// the counts of Staleness.
func (l *StaleGradients) Restored(waiting map[string]tensor.Tensor, counts Staleness) (
	*StaleGradients, error) {
	if len(counts.Waiting) != len(l.waiting) {
		return nil, fmt.Errorf("gradients are counted for %d steps, want %d", len(counts.Waiting), len(l.waiting))
	}
	r := &StaleGradients{trained: l.trained, delays: l.delays, counts: counts}
	found := 0
	for k := range l.waiting {
		sums := make([]tensor.Tensor, len(l.trained))
		for i, s := range l.trained {
			t, ok := waiting[l.name(k, i)]
			if due := counts.Waiting[k].Count; ok != (due > 0) {
				return nil, fmt.Errorf("gradients of %d replicas wait as %s; their sum is there: %t", due,
					l.name(k, i), ok)
			}
			if !ok {
				continue
			}
			if t.DType != s.DType || !slices.Equal(t.Shape, s.Shape) {
				return nil, fmt.Errorf("the gradient %s that waits is %v, want %v%v", l.name(k, i), t, s.DType, s.Shape)
			}
			sums[i] = t
			found++
		}
		r.waiting = append(r.waiting, sums)
	}
	if found != len(waiting) {
		return nil, fmt.Errorf("%d gradients wait, %d of them for no tensor or step of this run",
			len(waiting), len(waiting)-found)
	}
	return r, nil
}
