package ref

import (
	"github.com/bnctl/bnctl/device/class"
)

// quantizeWeight computes the four results of an output channel's weights: the weights as int8, the bias in
// steps of a sum, a step of a sum in steps of the result, and the weights for the gradient of the operand.
func quantizeWeight(c *call) {
	w, bias, s := c.in(0), c.in(1).f, class.WeightsInt8Of(c.Node)
	per := w.size / len(bias)
	weight, q, back := make([]float32, per), make([]int8, per), make([]float32, per)
	for o := range bias {
		widen(weight, w.f[o*per:][:per])
		steps, by := s.Channel(q, back, weight, float32(bias[o]))
		widen(c.out(0).i[o*per:], q)
		widen(c.out(3).f[o*per:], back)
		c.out(1).i[o], c.out(2).f[o] = int64(steps), float64(by)
	}
}
