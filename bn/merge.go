package bn

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// Merge makes one set of running statistics of K sets that belong to the same weights of the network.
// The rule determines how:
//
//	Pooled  mean = sum w*m, variance = sum w*v + sum w*(m - mean)^2
//	Mean    mean = sum w*m, variance = sum w*v
//	First   set 0
//
// where the weights w of the sets are scaled to the sum 1; nil means equal weights. The result is
// correct only if the weights of the network are the same in all sets: otherwise estimate the
// statistics again. The error names a set that lacks a tensor, or is a *NonFinite if the result
// overflows float32. overflows float32.
func Merge(layers []Layer, sets []map[string]tensor.Tensor, weights []float64, rule Rule) (
	map[string]tensor.Tensor, error) {
	w, err := normalisedWeights(len(sets), weights)
	if err != nil {
		return nil, err
	}
	for k := range sets {
		if _, err := newStatistics(layers, sets[k], chooser{}); err != nil {
			return nil, fmt.Errorf("set %d: %w", k, err)
		}
	}
	return merge(layers, sets, w, rule)
}

// merge merges sets that are complete, with weights that sum to 1.
func merge(layers []Layer, sets []map[string]tensor.Tensor, w []float64, rule Rule) (
	map[string]tensor.Tensor, error) {
	if !slices.Contains(Rules(), rule) {
		return nil, fmt.Errorf("bn: unknown rule %q, want %s", rule, listed(Rules()))
	}
	if rule == First {
		sets, w = sets[:1], []float64{1}
	}
	out := make(map[string]tensor.Tensor, 2*len(layers))
	for _, l := range layers {
		var bad *NonFinite
		if out[l.Mean], out[l.Variance], bad = mergeLayer(l, sets, w, rule == Pooled); bad != nil {
			return nil, bad
		}
	}
	return out, nil
}

// normalisedWeights scales weights to the sum 1.
func normalisedWeights(k int, weights []float64) ([]float64, error) {
	if k == 0 {
		return nil, fmt.Errorf("bn: no statistics to merge")
	}
	w, sum := make([]float64, k), 0.0
	if weights != nil && len(weights) != k {
		return nil, fmt.Errorf("bn: %d weights for %d sets of statistics", len(weights), k)
	}
	for i := range w {
		w[i] = 1
		if weights != nil {
			w[i] = weights[i]
		}
		if !(w[i] >= 0) || !tensor.IsFinite(w[i]) {
			return nil, fmt.Errorf("bn: weight %d of the statistics is %g", i, w[i])
		}
		sum += w[i]
	}
	if !(sum > 0) || !tensor.IsFinite(sum) {
		return nil, fmt.Errorf("bn: the weights of the statistics sum to %g", sum)
	}
	for i := range w {
		w[i] /= sum
	}
	return w, nil
}

// mergeLayer merges one layer channel by channel.
func mergeLayer(l Layer, sets []map[string]tensor.Tensor, w []float64, between bool) (
	mean, variance tensor.Tensor, bad *NonFinite) {
	m, v := make([]float64, l.Channels), make([]float64, l.Channels)
	for k, s := range sets {
		mk, vk := s[l.Mean].F32(), s[l.Variance].F32()
		for c := range m {
			m[c] += float64(w[k] * float64(mk[c]))
			v[c] += float64(w[k] * float64(vk[c]))
		}
	}
	for k, s := range sets {
		for c, mk := range s[l.Mean].F32() {
			if d := float64(mk) - m[c]; between {
				v[c] += float64(w[k] * float64(d*d))
			}
		}
	}
	return l.rounded(m, v)
}
