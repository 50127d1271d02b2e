package quantize

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// noise returns the expected noise in the results of a convolution or dense layer: the sum
// of squared errors over the channels of the result. It counts the rounding of the feature
// map that the layer reads, on scale s with its channels divided by divisors, and the rounding
// of the weights. Rounding to whole steps has a mean squared error of 1/12 of a squared
// step.
func (b *builder) noise(n *graph.Node, s scale, divisors []float64, channels []moments) (sum float64) {
	w := b.model.State[b.From.Values[n.In[1]].State]
	each, taps, out := w.Count()/w.Shape[0], tensor.Count(w.Shape[2:]), w.Shape[0]
	step := float64(s.factor)
	for o := range out {
		first, largest, squares, weighed := o/(out/groups(n))*(each/taps), 0.0, 0.0, 0.0
		for k, v := range w.F32()[o*each : (o+1)*each] {
			c := first + k/taps
			by := divisor(divisors, c)
			scaled := float64(v) * by
			largest = max(largest, math.Abs(scaled))
			squares += float64(scaled * scaled)
			weighed += channels[c].square() / float64(by*by)
		}
		rounding := largest / mostWeight
		sum += (float64(squares*float64(step*step)) + float64(weighed*float64(rounding*rounding))) / 12
	}
	return sum
}

// ownNoise returns the signal-to-noise ratio of a layer's result in decibels, and the
// noise-to-signal ratio. The noise comes from rounding the operand, the weights and, unless
// float is set, the result. Both ratios are 0 if the moments of operand or result are
// unknown.
func (b *builder) ownNoise(n *graph.Node, x byteMap, y scale, float bool) (decibel, ratio float64) {
	channels, results := b.channels[n.In[0]], b.channels[n.Out[0]]
	if channels == nil || results == nil {
		return 0, 0
	}
	signal, noise := 0.0, b.noise(n, x.scale, x.divisors, channels)
	for _, m := range results {
		signal += m.square()
	}
	if !float {
		noise += float64(float64(y.factor)*float64(y.factor)) / 12 * float64(len(results))
	}
	return decibels(signal, noise), noise / max(signal, 1e-300)
}

// square returns the mean of the squares.
func (m moments) square() float64 { return m.variance + float64(m.mean*m.mean) }
