package quantize

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// mostWeight is the largest magnitude of a weight in steps.
const mostWeight = 127

// weights are the constant operands of a convolution or dense layer on bytes.
type weights struct {
	weight, bias tensor.Tensor // i8 and i32
	factor       tensor.Tensor // f32: a step of a sum in steps of the result
	noise        float64       // signal to noise of the weights, in decibels
	// trained and trainedBias are f32: the numbers that are rounded, in units of the result's channels.
	trained, trainedBias tensor.Tensor
}

// layerInput describes the feature map that a convolution or dense layer reads.
type layerInput struct {
	scale    scale
	channels []moments // nil: not known
	divisors []float64 // divisors of its channels; nil: 1 each
}

// divisor returns the divisor of channel c of a feature map.
func divisor(divisors []float64, c int) float64 {
	if divisors == nil {
		return 1
	}
	return divisors[c]
}

// quantizeWeights returns weight [O,...] and bias of a layer on bytes. y has the scale of
// its result, or 1 for a float32 result. If the means of the input's channels are known,
// the bias compensates the change of the mean that rounding the weights causes.
func quantizeWeights(weight tensor.Tensor, bias []float32, groups int, x layerInput, y byteMap) (
	*weights, error) {
	out := weight.Shape[0]
	q := &weights{weight: tensor.New(tensor.I8, weight.Shape...), bias: tensor.New(tensor.I32, out),
		factor: tensor.New(tensor.F32, out), trained: tensor.New(tensor.F32, weight.Shape...),
		trainedBias: tensor.New(tensor.F32, out)}
	per, taps := weight.Count()/out, tensor.Count(weight.Shape[2:])
	signal, noise := 0.0, 0.0
	for o := range out {
		first := o / (out / groups) * (per / taps)
		line := make([]float64, per)
		for k, w := range weight.F32()[o*per : (o+1)*per] {
			line[k] = float64(w) * divisor(x.divisors, first+k/taps)
		}
		b := 0.0
		if bias != nil {
			b = float64(bias[o])
		}
		step, err := stepOf(line, b, float64(x.scale.factor))
		if err != nil {
			return nil, fmt.Errorf("channel %d: %w", o, err)
		}
		for k, w := range line {
			n := math.RoundToEven(w / float64(step))
			tensor.View[int8](q.weight)[o*per+k] = int8(min(max(n, -mostWeight), mostWeight))
			wrong := float64(n*float64(step)) - w
			q.trained.F32()[o*per+k] = float32(w / divisor(y.divisors, o))
			signal += float64(w * w)
			noise += float64(wrong * wrong)
			if x.channels != nil {
				mean := x.channels[first+k/taps].mean / divisor(x.divisors, first+k/taps)
				b -= float64(wrong * mean)
			}
		}
		q.trainedBias.F32()[o] = float32(b / divisor(y.divisors, o))
		q.bias.I32()[o] = int32(min(max(math.RoundToEven(b/(float64(x.scale.factor)*float64(step))),
			-graph.MostBias),
			graph.MostBias))
		result := float64(y.scale.factor) * divisor(y.divisors, o)
		q.factor.F32()[o] = float32(float64(x.scale.factor) * float64(step) / result)
		if !(q.factor.F32()[o] >= 0x1p-126 && q.factor.F32()[o] <= math.MaxFloat32) {
			return nil, fmt.Errorf("channel %d: a step of its sums would be %g steps of its result", o,
				q.factor.F32()[o])
		}
	}
	q.noise = decibels(signal, noise)
	return q, nil
}

// stepOf returns the scale of the weights of a channel. The largest weight is 127 steps, or
// fewer if the bias would otherwise have too many steps of a sum.
func stepOf(line []float64, bias, input float64) (float32, error) {
	largest := 0.0
	for _, w := range line {
		if !tensor.IsFinite(w) {
			return 0, problem.Advise("take an earlier checkpoint", "a weight is %g", w)
		}
		largest = max(largest, math.Abs(w))
	}
	if !tensor.IsFinite(bias) {
		return 0, problem.Advise("take an earlier checkpoint", "its bias is %g", bias)
	}
	const roomy = graph.MostBias / 4 // room for the correction of the bias
	step := max(largest/mostWeight, math.Abs(bias)/(input*roomy), leastScale)
	if step > mostScale {
		return 0, fmt.Errorf("its weights go to %g, want at most %g", largest, float64(mostScale)*mostWeight)
	}
	return float32(step), nil
}

// decibels returns the signal-to-noise ratio in decibels, at most 200, which it also
// returns without noise.
func decibels(signal, noise float64) float64 {
	const most = 200
	if signal == 0 || noise == 0 {
		return most
	}
	return min(10*tensor.Log(signal/noise)/math.Ln10, most)
}
