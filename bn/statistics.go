package bn

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// Statistics is one set of running statistics. A run may keep several sets side by side, because
// running statistics do not influence training in modes Sync and Replica.
//
// A set holds copies of tensors. Only Restore changes it. A step makes a new set (Next), which
// replaces the old one when the step is committed.
type Statistics struct {
	layers  []Layer
	choose  chooser
	state   map[string]tensor.Tensor
	updates []int64 // number of updates of each layer
}

// New returns a set that starts from state, which holds the statistics of all
// layers (other tensors in it are ignored). In mode Sync the rule is Pooled.
func New(layers []Layer, state map[string]tensor.Tensor, mode Mode, rule Rule) (*Statistics, error) {
	c, err := choice(mode, rule)
	if err != nil {
		return nil, err
	}
	return newStatistics(layers, state, c)
}

// newForReplica returns the separate set of one replica.
func newForReplica(layers []Layer, state map[string]tensor.Tensor, replica int) (*Statistics, error) {
	return newStatistics(layers, state, singleReplica(replica))
}

func newStatistics(layers []Layer, state map[string]tensor.Tensor, c chooser) (*Statistics, error) {
	s := &Statistics{layers: layers, choose: c, state: map[string]tensor.Tensor{},
		updates: make([]int64, len(layers))}
	for _, l := range layers {
		for _, name := range []string{l.Mean, l.Variance} {
			t, ok := state[name]
			if !ok {
				return nil, fmt.Errorf("bn: layer %s: tensor %s is missing", l.Name, name)
			}
			if t.DType != tensor.F32 || !slices.Equal(t.Shape, []int{l.Channels}) {
				return nil, fmt.Errorf("bn: layer %s: tensor %s is %v, want f32[%d]", l.Name, name, t, l.Channels)
			}
			s.state[name] = t.Clone()
		}
	}
	return s, nil
}

// Next returns the set after one more step with these moments, checked with Check:
//
//	mean += w*(mu - mean), variance += w*(u - variance)
//
// in float64, stored as float32, where w is 1-decay, or 1/t with Cumulative, and u is Q/(M-1), or Q/M with
// Biased. A layer with fewer than two values, and its t, do not change. The error is a *NonFinite if float32
// does not hold a statistic. s never changes.
func (s *Statistics) Next(moments []tensor.Tensor) (*Statistics, error) {
	next := s.clone()
	for i := range s.layers {
		l := &s.layers[i]
		mean, variance := s.choose.choose(l, moments[i])
		err := next.update(i, mean, variance, func(channel int) int {
			replica, _ := l.farthest(moments[i], channel, s.choose.counts)
			return replica
		})
		if err != nil {
			return nil, err
		}
	}
	return next, nil
}

// update adds the mean and the variance of layer i to its running statistics. It does nothing if mean
// is nil: the layer had no values. replica returns, for a channel, the replica that an error about it
// names.
func (s *Statistics) update(i int, mean, variance []float64, replica func(channel int) int) error {
	if mean == nil {
		return nil
	}
	l := &s.layers[i]
	s.updates[i]++
	w := 1 - l.Decay
	if l.Cumulative {
		w = 1 / float64(s.updates[i])
	}
	var bad *NonFinite
	s.state[l.Mean], s.state[l.Variance], bad = l.rounded(blended(s.state[l.Mean].F32(), mean, w),
		blended(s.state[l.Variance].F32(), variance, w))
	if bad != nil {
		bad.Replica = replica(bad.Channel)
		return bad
	}
	return nil
}

// blended returns old moved towards new by the fraction w.
func blended(old []float32, new []float64, w float64) []float64 {
	moved := make([]float64, len(new))
	for c, v := range new {
		o := float64(old[c])
		moved[c] = o + float64(w*(v-o))
	}
	return moved
}

// Tensors returns copies of the running statistics by the names of the state.
func (s *Statistics) Tensors() map[string]tensor.Tensor {
	out := make(map[string]tensor.Tensor, len(s.state))
	for name, t := range s.state {
		out[name] = t.Clone()
	}
	return out
}

// clone returns a set that shares nothing with s.
func (s *Statistics) clone() *Statistics {
	return &Statistics{layers: s.layers, choose: s.choose, state: s.Tensors(), updates: s.Updates()}
}

// Updates returns how often each layer was updated, in the order of layers. A step in which a layer
// has too few values does not count.
func (s *Statistics) Updates() []int64 { return slices.Clone(s.updates) }

// Restore sets s to the state that Tensors and Updates returned, for example from a checkpoint. The
// error names a tensor that is missing or has another shape; s is unchanged then.
func (s *Statistics) Restore(state map[string]tensor.Tensor, updates []int64) error {
	if len(updates) != len(s.layers) {
		return fmt.Errorf("bn: update counts of %d layers, want %d", len(updates), len(s.layers))
	}
	r, err := newStatistics(s.layers, state, s.choose)
	if err != nil {
		return err
	}
	s.state, s.updates = r.state, slices.Clone(updates)
	return nil
}
