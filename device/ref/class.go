package ref

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// definitions holds the loops of class class.FMA that differ from the device's default
// loops: float32 operations in the order that package class defines.
var definitions = map[graph.Op]func(*call){
	graph.Conv: defineConv, graph.ConvTranspose: defineConv, graph.ConvGradInput: defineConv,
	graph.Dense: defineConv, graph.DenseGradInput: defineConv,
	graph.ConvGradWeight: defineWeights, graph.DenseGradWeight: defineWeights,
	graph.MatMul: defineMatMul,

	graph.Moments: defineMoments, graph.Normalise: defineNormalise, graph.BatchNorm: defineBatchNorm,
	graph.NormaliseGradSums: defineNormaliseGradSums, graph.NormaliseGradInput: defineNormaliseGradInput,
	graph.LayerNorm: defineLayerNorm, graph.LayerNormGrad: defineRowNormGrad,
	graph.GroupNorm: defineGroupNorm, graph.GroupNormGrad: defineRowNormGrad,
	graph.ChannelSum: defineChannelSum, graph.GlobalAvgPool: defineGlobalAvgPool,

	graph.Relu: defineActivation, graph.Relu6: defineActivation,
	graph.LeakyRelu: defineActivation, graph.Elu: defineActivation, graph.Sigmoid: defineActivation,
	graph.HardSigmoid: defineActivation, graph.Silu: defineActivation, graph.HardSwish: defineActivation,
	graph.Tanh: defineActivation, graph.Softplus: defineActivation, graph.Clip: defineActivation,
	graph.Erf: defineActivation, graph.Gelu: defineActivation, graph.GeluTanh: defineActivation,
	graph.Mish: defineActivation, graph.Exp: defineActivation, graph.Log: defineActivation,

	graph.Softmax: defineSoftmax, graph.LogSoftmax: defineSoftmax,
	graph.ActivationGrad: defineActivationGrad, graph.SoftmaxXent: defineSoftmaxXent,
	graph.MaxPoolGrad: defineMaxPoolGrad, graph.AvgPoolGrad: defineAvgPoolGrad,
}

// floats converts elements to float32. The elements are float32 values already, so that nothing is
// rounded.
func floats(list []float64) []float32 {
	out := make([]float32, len(list))
	for i, v := range list {
		out[i] = float32(v)
	}
	return out
}

// layer returns the layer of the call's node and its algorithm.
func (c *call) layer() (class.Layer, class.Algorithm) {
	l, _ := class.LayerOf(c.fn, c.Node)
	return l, class.Choose(l, device.F32, class.FMA)
}

// defineConv computes products with a weight, row by row.
func defineConv(c *call) {
	l, a := c.layer()
	x, y := c.in(0), c.out(0)
	w, bias := c.filter(l)
	define := class.DefineForward
	if l.Product == class.Backward {
		define = class.DefineBackward
	}
	image := define(l, a, w, bias)
	for n := range y.lead {
		out := make([]float32, y.size)
		image(out, c.imageOf(x, n))
		widen(y.block(n), c.channelsLast(out))
	}
}

// imageOf returns row n of a value as an image, with channels first. The value of a dense layer has
// its channels last.
func (c *call) imageOf(x *array, n int) []float32 {
	if !c.isDense() {
		return floats(x.block(n))
	}
	return turned(floats(x.block(n)), x.size/x.last(), x.last())
}

// channelsLast converts an image to the layout of the node's result.
func (c *call) channelsLast(image []float32) []float32 {
	if !c.isDense() {
		return image
	}
	channels := c.out(0).last()
	return turned(image, channels, len(image)/channels)
}

func (c *call) isDense() bool {
	return c.Op == graph.Dense || c.Op == graph.DenseGradInput || c.Op == graph.DenseGradWeight
}

// turned returns a matrix with rows and columns exchanged.
func turned(x []float32, rows, columns int) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i%columns*rows+i/columns] = v
	}
	return out
}

// filter returns the weight and the bias of the call's node. If a batch norm is folded into the
// node, they include it.
func (c *call) filter(l class.Layer) (w, bias []float32) {
	w = floats(c.in(1).block(0))
	gradient := c.Op == graph.ConvGradInput || c.Op == graph.DenseGradInput
	if b := c.in(2); b != nil && !gradient {
		bias = floats(b.block(0))
	}
	norm, ok := c.norms[c.Out[0]]
	if !ok {
		return w, bias
	}
	gamma, beta, mean, variance := c.in(3).block(0), c.in(4).block(0), c.in(5).block(0), c.in(6).block(0)
	by, add := make([]float64, len(gamma)), make([]float32, len(gamma))
	for ch := range gamma {
		shift := -mean[ch]
		if bias != nil {
			shift += float64(bias[ch])
		}
		by[ch] = norm.By(float32(gamma[ch]), float32(variance[ch]))
		add[ch] = norm.Add(float32(beta[ch]), shift, by[ch])
	}
	for i := range w {
		w[i] = float32(float64(w[i]) * by[l.Channel(i)])
	}
	return w, add
}

// defineWeights computes the gradients for a weight, replica by replica.
func defineWeights(c *call) {
	l, a := c.layer()
	x, dy, dw := c.in(0), c.in(1), c.out(0)
	for r := range c.replicas() {
		from, to := c.first[r], c.first[r+1]
		out := make([]float32, dw.size)
		var images, gradients []float32
		for n := from; n < to; n++ {
			images, gradients = append(images, c.imageOf(x, n)...), append(gradients, c.imageOf(dy, n)...)
		}
		class.DefineWeights(l, a, out, images, gradients)
		widen(dw.block(r), out)
	}
}

// fold returns p with class.Fold applied to its functions, and the folded batch norms of each
// function.
func fold(p *graph.Program) (*graph.Program, map[*graph.Function]map[graph.Value]class.Norm) {
	folded, norms := *p, map[*graph.Function]map[graph.Value]class.Norm{}
	folded.Functions = slices.Clone(p.Functions)
	for i, fn := range p.Functions {
		f, n := class.Fold(fn)
		folded.Functions[i], norms[f] = f, n
	}
	return &folded, norms
}
