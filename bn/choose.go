package bn

import (
	"fmt"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/tensor"
)

// chooser turns the moments of R replicas, f64 [R,1+2C], into the mean and
// the variance of every channel; nil if there are fewer than two values.
type chooser struct {
	choose func(l *Layer, m tensor.Tensor) (mean, variance []float64)
	counts func(r int, n float64) bool // reports whether replica r, which has n values, counts
}

func choice(mode Mode, rule Rule) (chooser, error) {
	switch {
	case mode == Frozen:
		return chooser{}, fmt.Errorf("bn: running statistics do not change in mode %s", Frozen)
	case mode == Sync && rule != Pooled:
		return chooser{}, fmt.Errorf("bn: in mode %s the statistics are those of the batch; rule %s is for mode %s",
			Sync, rule, Replica)
	case mode == Sync:
		return pooled(1), nil
	case rule == Pooled:
		return pooled(2), nil
	case rule == Mean:
		return chooser{meanOf, atLeast(2)}, nil
	case rule == First:
		return singleReplica(0), nil
	}
	return chooser{}, fmt.Errorf("bn: unknown mode %q or rule %q", mode, rule)
}

// pooled merges the replicas exactly, along the canonical tree. It leaves out replicas with fewer values
// than the given number, because they normalised with other statistics.
func pooled(minimum float64) chooser {
	return chooser{func(l *Layer, m tensor.Tensor) (mean, variance []float64) {
		return l.split(Pool(m, minimum))
	}, atLeast(minimum)}
}

// atLeast returns a filter for replicas that have at least this number of values.
func atLeast(minimum float64) func(r int, n float64) bool {
	return func(_ int, n float64) bool { return n >= minimum }
}

// Pool merges moments f64 [R,1+2C] along the canonical tree over R. The result has the same bits as
// the all-reduce of mode Sync. Replicas with fewer values than the given number count as empty. The
// result is (n, means, Q), with n = 0 if all replicas are empty.
func Pool(m tensor.Tensor, minimum float64) []float64 {
	return pool(m, atLeast(minimum))
}

// pool merges the moments of the replicas that have values and that the filter accepts.
func pool(m tensor.Tensor, take func(r int, n float64) bool) []float64 {
	sum := collective.Reduce(collective.MergeMoments, collective.Root(m.Shape[0]), func(r int) tensor.Tensor {
		if n := row(m, r)[0]; n == 0 || !take(r, n) {
			return tensor.Tensor{}
		}
		return m.Rows(r, r+1).Clone() // a copy, because Reduce writes into it
	})
	if sum.IsZero() {
		return make([]float64, m.Shape[1])
	}
	return sum.F64()
}

// split turns merged moments into the mean and the variance of l's rule; nil
// if there are fewer than two values.
func (l *Layer) split(m []float64) (mean, variance []float64) {
	n, q := m[0], m[1+l.Channels:]
	if n < 2 {
		return nil, nil
	}
	if !l.Biased {
		n--
	}
	variance = make([]float64, l.Channels)
	for c := range q {
		variance[c] = q[c] / n
	}
	return m[1 : 1+l.Channels], variance
}

// meanOf is the plain mean over the replicas with at least two values.
func meanOf(l *Layer, m tensor.Tensor) (mean, variance []float64) {
	count := 0.0
	for r := range m.Shape[0] {
		mu, u := l.split(row(m, r))
		if mu == nil {
			continue
		}
		if mean == nil {
			mean, variance = make([]float64, l.Channels), make([]float64, l.Channels)
		}
		for c := range mu {
			mean[c] += mu[c]
			variance[c] += u[c]
		}
		count++
	}
	for c := range mean {
		mean[c] /= count
		variance[c] /= count
	}
	return mean, variance
}

// singleReplica chooses one replica.
func singleReplica(replica int) chooser {
	return chooser{func(l *Layer, m tensor.Tensor) (mean, variance []float64) {
		return l.split(row(m, replica))
	}, func(r int, _ float64) bool { return r == replica }}
}
