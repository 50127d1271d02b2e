package data

import (
	"fmt"
	"math"
	"sort"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// visits has the samples of an epoch in their order. If samples may occur several times, it also has, for
// each visit, the number of times that its sample occurred before.
type visits struct {
	samples []int
	earlier []uint32 // nil: each sample occurs once
}

// rows returns the visits [start, end) of an epoch.
func (v visits) rows(start, end int) visits {
	p := visits{samples: v.samples[start:end]}
	if v.earlier != nil {
		p.earlier = v.earlier[start:end]
	}
	return p
}

// order returns the order of the n samples in an epoch. It is a permutation that depends only on seed, epoch
// and n.
func order(seed uint64, epoch, n int) []int {
	d := tensor.NewPhilox(seed, tensor.StreamOrder).Draws(uint32(epoch), 0)
	return d.Perm(n)
}

// inOrder returns the numbers from 0 to n-1.
func inOrder(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// weightSums returns the cumulative sums of the weights, in float64. It is an error if the number of weights
// is not n, if a weight is negative or not a number, or if all are 0.
func weightSums(weights []float64, n int) ([]float64, error) {
	if len(weights) != n {
		return nil, fmt.Errorf("%s for %s", problem.Plural(len(weights), "weight"), problem.Plural(n, "sample"))
	}
	sums, sum := make([]float64, n), 0.0
	for i, w := range weights {
		if !(w >= 0 && w <= math.MaxFloat32) {
			return nil, fmt.Errorf("the weight of sample %d is %v: want a number from 0 on", i, w)
		}
		sum += w
		sums[i] = sum
	}
	if sum == 0 {
		return nil, fmt.Errorf("all samples have the weight 0: none can be drawn")
	}
	return sums, nil
}

// drawnByWeight draws len(sums) samples independently, with probabilities in proportion to the weights. U is
// a random number for each epoch and k. Visit k of the epoch is the first sample with a cumulative sum above
// U times the total.
func drawnByWeight(seed uint64, epoch int, sums []float64) visits {
	n := len(sums)
	v := visits{make([]int, n), make([]uint32, n)}
	philox, times := tensor.NewPhilox(seed, tensor.StreamSample), make([]uint32, n)
	for k := range n {
		d := philox.Draws(uint32(epoch), uint64(k))
		at := float64(d.Float64() * sums[n-1])
		i := sort.Search(n-1, func(i int) bool { return sums[i] > at })
		v.samples[k], v.earlier[k] = i, times[i]
		times[i]++
	}
	return v
}
