package bn

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/tensor"
)

// Async is a set of running statistics with delayed updates: the moments of replica r in step t are
// merged in step t + delay(seed, r, t), at most span steps later. The delays are drawn from the
// seed, so the result is the same on any devices: asynchrony is a schedule, never a race.
type Async struct {
	set        *Statistics
	delays     tensor.Philox
	span       int
	step       int               // number of the next step
	history    [][]tensor.Tensor // moments of the last steps that are not all merged; the last element is step-1
	Merged     int64             // number of observations of a replica that were merged so far
	TotalDelay int64             // sum of the delays of all merged observations, in steps
}

// NewAsync returns asynchronous statistics that start from state. A span of 0 equals Pooled.
func NewAsync(layers []Layer, state map[string]tensor.Tensor, seed uint64, span int) (*Async, error) {
	if span < 0 || span > maxSpan {
		return nil, fmt.Errorf("bn: asynchronous statistics over %d steps, want 0 to %d", span, maxSpan)
	}
	set, err := New(layers, state, Replica, Pooled)
	return &Async{set: set, delays: tensor.NewPhilox(seed, tensor.StreamDelay), span: span}, err
}

// maxSpan bounds the memory for pending moments.
const maxSpan = 64

// delay returns the delay of replica r in step t: uniform in 0 to span.
func (a *Async) delay(r, t int) int {
	d := a.delays.Draws(uint32(r), uint64(t))
	return d.Intn(a.span + 1)
}

// Next returns the statistics after one more step. It checks moments with Check and merges those
// that are due. It returns the errors of Statistics.Next, including those for pending moments that
// a checkpoint would contain. It never changes a.
func (a *Async) Next(moments []tensor.Tensor) (*Async, error) {
	clones := make([]tensor.Tensor, len(moments))
	for i, m := range moments {
		clones[i] = m.Clone()
	}
	next := a.clone()
	if err := next.advance(clones); err != nil {
		return nil, err
	}
	if next.pendingNearOverflow() {
		if _, err := next.Drained(); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// pendingNearOverflow reports whether pending moments are close to the range of float32. Below that,
// variances of at most 2^120 and means of at most 2^60 stay below 2^122 when they are merged with others.
func (a *Async) pendingNearOverflow() bool {
	for _, moments := range a.history {
		for i, l := range a.set.layers {
			for r := range moments[i].Shape[0] {
				m := row(moments[i], r)
				for c := range l.Channels {
					if m[0] > 0 && (math.Abs(m[1+c]) > 0x1p60 || m[1+l.Channels+c] > 0x1p120*m[0]) {
						return true
					}
				}
			}
		}
	}
	return false
}

// Drained returns statistics without pending moments. It merges them as the following steps would
// have done. After Drained, no step can follow.
func (a *Async) Drained() (*Async, error) {
	d := a.clone()
	for range a.span {
		if err := d.advance(nil); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// clone returns an independent copy of a.
func (a *Async) clone() *Async {
	c := *a
	c.set, c.history = a.set.clone(), slices.Clone(a.history)
	return &c
}

// advance adds the moments of the current step, merges those that are due, and moves to the next
// step.
func (a *Async) advance(moments []tensor.Tensor) error {
	a.history = append(a.history, moments)
	for i := range a.set.layers {
		mean, variance := a.set.layers[i].split(a.mergeDue(i))
		err := a.set.update(i, mean, variance, func(channel int) int { return a.farthest(i, channel) })
		if err != nil {
			return err
		}
	}
	a.step++
	if len(a.history) > a.span {
		a.history = a.history[len(a.history)-a.span:]
	}
	return nil
}

// farthest returns the replica with the largest mean of squares in a channel of layer i. It considers the
// replicas that are merged in the current step. See Layer.farthest.
func (a *Async) farthest(i, channel int) int {
	replica, most := -1, -1.0
	l := &a.set.layers[i]
	for k, moments := range a.history {
		if moments == nil {
			continue
		}
		r, size := l.farthest(moments[i], channel, a.dueIn(k))
		if size > most {
			replica, most = r, size
		}
	}
	return replica
}

// mergeDue merges the moments of layer i that are due in this step: older steps
// first, the replicas of one step along the canonical tree.
func (a *Async) mergeDue(i int) []float64 {
	total := make([]float64, 1+2*a.set.layers[i].Channels)
	for k, moments := range a.history {
		if moments == nil {
			continue
		}
		due := a.dueIn(k)
		merged := pool(moments[i], func(r int, n float64) bool {
			delayed := due(r, n)
			if delayed && i == 0 {
				a.Merged++
				a.TotalDelay += int64(len(a.history) - 1 - k)
			}
			return delayed
		})
		collective.Merge(total, total, merged)
	}
	return total
}

// dueIn returns a function that reports which replicas of step k of the history
// are merged in the present step, which is the last of the history.
func (a *Async) dueIn(k int) func(r int, n float64) bool {
	t := a.step - len(a.history) + 1 + k
	return func(r int, n float64) bool { return n >= 2 && t+a.delay(r, t) == a.step }
}

// Tensors returns copies of the running statistics by the names of the state.
func (a *Async) Tensors() map[string]tensor.Tensor { return a.set.Tensors() }

// Pending is the part of an Async that a checkpoint stores in addition to Tensors.
type Pending struct {
	Updates    []int64
	Step       int
	Merged     int64
	TotalDelay int64                    `json:"Waited"` // "Waited" is the name in checkpoints
	History    map[string]tensor.Tensor // moments by "step/layer"
}

// Pending returns the moments that are not merged yet. The tensors are shared and never change.
func (a *Async) Pending() Pending {
	p := Pending{Updates: a.set.Updates(), Step: a.step, Merged: a.Merged, TotalDelay: a.TotalDelay,
		History: map[string]tensor.Tensor{}}
	for k, moments := range a.history {
		for i, m := range moments {
			p.History[historyName(a.step-len(a.history)+k, i)] = m
		}
	}
	return p
}

func historyName(step, layer int) string { return fmt.Sprintf("%d/%d", step, layer) }

// Restore sets a to the state that Tensors and Pending returned.
func (a *Async) Restore(state map[string]tensor.Tensor, p Pending) error {
	var history [][]tensor.Tensor
	for step := max(p.Step-a.span, 0); step < p.Step; step++ {
		var moments []tensor.Tensor
		for i, l := range a.set.layers {
			m, ok := p.History[historyName(step, i)]
			if !ok {
				return fmt.Errorf("bn: layer %s: the moments of step %d, which still count, are missing", l.Name, step)
			}
			moments = append(moments, m)
		}
		if err := Check(a.set.layers, moments); err != nil {
			return fmt.Errorf("moments of step %d: %w", step, err)
		}
		history = append(history, moments)
	}
	if err := a.set.Restore(state, p.Updates); err != nil {
		return err
	}
	a.history, a.step, a.Merged, a.TotalDelay = history, p.Step, p.Merged, p.TotalDelay
	return nil
}
