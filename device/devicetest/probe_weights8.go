package devicetest

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// halves fills each channel with multiples of half a step; the largest is 127 steps. About every second
// weight is halfway between two int8 values.
func halves(d *tensor.Draws, t tensor.Tensor) {
	per := t.Count() / t.Shape[0]
	set(t, func(i int) float64 {
		if i%per == 0 {
			return 127.0 / 64
		}
		return float64(d.Intn(509)-254) / 128
	})
}

// notFinite fills t with an infinite weight in channel 1, a NaN in channel 3, and zeros in channel 4.
func notFinite(d *tensor.Draws, t tensor.Tensor) {
	per := t.Count() / t.Shape[0]
	set(t, func(i int) float64 {
		switch {
		case i == per+per/2:
			return math.Inf(-1)
		case i == 4*per-1:
			return math.NaN()
		case i/per == 4:
			return 0
		}
		return d.Normal()
	})
}

// trainedWeights returns the operands of quantize_weight.
func trainedWeights(w, bias filler, shape ...int) []operand {
	return []operand{whole(shape...).filledBy(w), whole(shape[0]).filledBy(bias)}
}

var weightProbes = []probe{
	{"3x3", graph.QuantizeWeight, []any{"x_scale", 0.0173, "scale", 0.031},
		trainedWeights(normal, normal, 19, 7, 3, 3), bits},
	{"depthwise", graph.QuantizeWeight, []any{"x_scale", 0.0173, "scale", 1.0},
		trainedWeights(spread, spread, 35, 1, 3, 3), bits},
	{"dense", graph.QuantizeWeight, []any{"x_scale", 0.1, "scale", 0.03},
		trainedWeights(normal, spread, 70, 131), bits},
	{"large, for several threads", graph.QuantizeWeight, []any{"x_scale", 0.1, "scale", 0.03},
		trainedWeights(normal, spread, 67, 65, 3, 1), bits},
	{"halves of a step", graph.QuantizeWeight, []any{"x_scale", 0.5, "scale", 2.0},
		trainedWeights(halves, listed(1.0/256, 3.0/256, -1.0/256, 5.0/256), 5, 131), bits},
	{"biases that set the step", graph.QuantizeWeight, []any{"x_scale", 0x1p-40, "scale", 0.5},
		trainedWeights(normal, spread, 9, 5), bits},
	{"many magnitudes", graph.QuantizeWeight, []any{"x_scale", 0x1p-30, "scale", 0x1p20},
		trainedWeights(extreme, extreme, 12, 17), bits},
	{"near the largest number", graph.QuantizeWeight, []any{"x_scale", 1.0, "scale", 1.0},
		trainedWeights(largest, normal, 3, 5), bits},
	{"not finite", graph.QuantizeWeight, []any{"x_scale", 0.1, "scale", 0.03},
		trainedWeights(notFinite, listed(1, 2, -3, 4, 0, math.NaN(), math.Inf(1)), 8, 3, 2, 2), bits},
	{"zeros", graph.QuantizeWeight, []any{"x_scale", 0.1, "scale", 0.03},
		trainedWeights(listed(0), listed(0), 3, 4), bits},
}
