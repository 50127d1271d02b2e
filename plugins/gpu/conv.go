package gpu

import "github.com/bnctl/bnctl/device/class"

// These are the orders in which a chain adds its products, as in kernels/30_conv.cl.
const (
	byWindow = iota
	byDirect
	byRows
	backwards
)

// weights describes the layout w of weights: the weight of output channel o, input channel k of its group
// and tap t is at w.base + o*w.o + k*w.k + t*w.t.
type weights struct{ base, o, k, t int }

// forwardWeights returns the layout of the weights [O][C/groups][kh][kw] of a layer.
func forwardWeights(l class.Layer) weights {
	taps := l.Kernel[0] * l.Kernel[1]
	return weights{0, l.C / l.Groups * taps, taps, 1}
}

// flippedWeights returns the layout in which the flipped layer reads the same weights. The layer has one
// group, or one channel per group.
func flippedWeights(l class.Layer) weights {
	taps := l.Kernel[0] * l.Kernel[1]
	return weights{taps - 1, taps, l.O * taps, -1}
}

// geometry returns the description of a layer that the kernels read.
func (c *compiler) geometry(l class.Layer, w weights, order int) *constant {
	return c.table([]int{l.C, l.H, l.W, l.O, l.OH, l.OW}, l.Kernel[:], l.Stride[:], l.Pad[:2], l.Dilation[:],
		[]int{l.C / l.Groups, l.O / l.Groups, w.base, w.o, w.k, w.t, order, 0})
}
