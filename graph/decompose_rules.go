package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// relu6(x) = clip(x, 0, 6).
func decomposeRelu6(r *rewriter) { r.last(Clip, []Value{r.in(0)}, "min", 0.0, "max", 6.0) }

// hard_sigmoid(x) = clip(alpha*x + beta, 0, 1).
func decomposeHardSigmoid(r *rewriter) {
	line := r.op(Affine, "line", []Value{r.in(0)}, "by", r.node.Float("alpha"), "add", r.node.Float("beta"))
	r.last(Clip, []Value{line}, "min", 0.0, "max", 1.0)
}

// silu(x) = x * sigmoid(x).
func decomposeSilu(r *rewriter) {
	r.last(Mul, []Value{r.in(0), r.op(Sigmoid, "sigmoid", []Value{r.in(0)})})
}

// hard_swish(x) = x * (clip(x+3, 0, 6) / 6).
func decomposeHardSwish(r *rewriter) {
	line := r.op(Affine, "line", []Value{r.in(0)}, "add", 3.0)
	clip := r.op(Clip, "clip", []Value{line}, "min", 0.0, "max", 6.0)
	r.last(Mul, []Value{r.in(0), r.op(Affine, "gate", []Value{clip}, "by", 1.0/6)})
}

// gelu(x) = 0.5*x*(1 + erf(x/sqrt(2))).
func decomposeGelu(r *rewriter) {
	x := r.in(0)
	over := r.op(Affine, "over", []Value{x}, "by", math.Sqrt2/2)
	gate := r.op(Affine, "gate", []Value{r.op(Erf, "erf", []Value{over})}, "by", 0.5, "add", 0.5)
	r.last(Mul, []Value{x, gate})
}

// gelu_tanh(x) = 0.5*x*(1 + tanh(sqrt(2/pi)*x*(1 + 0.044715*x^2))).
func decomposeGeluTanh(r *rewriter) {
	x, scale := r.in(0), math.Sqrt(2/math.Pi)
	more := r.op(Affine, "more", []Value{r.op(Mul, "square", []Value{x, x})}, "by", scale*0.044715, "add", scale)
	tanh := r.op(Tanh, "tanh", []Value{r.op(Mul, "inner", []Value{x, more})})
	gate := r.op(Affine, "gate", []Value{tanh}, "by", 0.5, "add", 0.5)
	r.last(Mul, []Value{x, gate})
}

// mish(x) = x * tanh(softplus(x)).
func decomposeMish(r *rewriter) {
	gate := r.op(Tanh, "tanh", []Value{r.op(Softplus, "softplus", []Value{r.in(0)})})
	r.last(Mul, []Value{r.in(0), gate})
}

// leaky_relu(x) = relu(x) - alpha*relu(-x).
func decomposeLeakyRelu(r *rewriter) {
	right := r.op(Relu, "right", []Value{r.in(0)})
	left := r.op(Relu, "left", []Value{r.op(Affine, "minus", []Value{r.in(0)}, "by", -1.0)})
	r.last(Sub, []Value{right, r.op(Affine, "slope", []Value{left}, "by", r.node.Float("alpha"))})
}

// decomposeBatchNorm makes batch_norm a normalise with running moments.
func decomposeBatchNorm(r *rewriter) {
	m := r.op(RunningMoments, "moments", []Value{r.in(3), r.in(4)})
	r.last(Normalise, []Value{r.in(0), m, r.in(1), r.in(2)}, "eps", r.node.Float("eps"))
}

// softmax_grad(y, dy) = y * (dy - sum(dy*y)).
func decomposeSoftmaxGrad(r *rewriter) {
	y, dy := r.in(0), r.in(1)
	product := r.op(Mul, "product", []Value{dy, y})
	sum := r.op(ReduceSum, "sum", []Value{product}, "axes", []int{r.node.Int("axis")}, "keep", true)
	r.last(Mul, []Value{y, r.op(Sub, "difference", []Value{dy, sum})})
}

// log_softmax_grad(y, dy) = dy - exp(y)*sum(dy).
func decomposeLogSoftmaxGrad(r *rewriter) {
	y, dy := r.in(0), r.in(1)
	sum := r.op(ReduceSum, "sum", []Value{dy}, "axes", []int{r.node.Int("axis")}, "keep", true)
	r.last(Sub, []Value{dy, r.op(Mul, "product", []Value{r.op(Exp, "exp", []Value{y}), sum})})
}

// decomposeGlobalAvgPool makes global_avg_pool the mean over height and width.
func decomposeGlobalAvgPool(r *rewriter) {
	r.last(ReduceMean, []Value{r.in(0)}, "axes", []int{1, 2}, "keep", true)
}

// decomposeGlobalAvgPoolGrad makes global_avg_pool_grad a broadcast of dy/(H*W).
func decomposeGlobalAvgPoolGrad(r *rewriter) {
	size := r.node.Ints("size")
	scaled := r.op(Affine, "part", []Value{r.in(0)}, "by", 1/(float64(size[0])*float64(size[1])))
	r.last(BroadcastTo, []Value{scaled}, "shape", append(r.Builder.Type(scaled).Shape[:1:1], size...))
}

// reduce_max of rows is a max_pool over each axis, which becomes the height of an image. reduce_min is the
// reduce_max of the negative values.
func decomposeReduceExtreme(r *rewriter) {
	x, least := r.in(0), r.node.Op == ReduceMin
	t := r.Builder.Type(x)
	if t.Kind != Rows || t.DType != tensor.F32 {
		r.Builder.Fail(fmt.Errorf("node %s: %v of %v has no decomposition", r.name(), r.node.Op, t))
		return
	}
	if least {
		x = r.op(Affine, "negative", []Value{x}, "by", -1.0)
	}
	s := slices.Clone(t.Shape)
	for _, a := range r.node.Ints("axes") {
		image := []int{tensor.Count(s[:a]), s[a], tensor.Count(s[a+1:])}
		window := []int{s[a], 1}
		x = r.op(Reshape, "image", []Value{x}, "shape", image)
		x = r.op(MaxPool, "extreme", []Value{x}, "kernel", window, "stride", window)
		s[a] = 1
	}
	if least {
		x = r.op(Affine, "positive", []Value{x}, "by", -1.0)
	}
	r.last(Reshape, []Value{x}, "shape", r.From.Values[r.node.Out[0]].Type.Shape)
}

// decomposeChannelSum makes channel_sum a sum over the trailing axes, then over rows.
func decomposeChannelSum(r *rewriter) {
	x := r.in(0)
	var axes []int
	for a := 1; a < len(r.Builder.Type(x).Shape); a++ {
		axes = append(axes, a)
	}
	if len(axes) > 0 {
		x = r.op(ReduceSum, "channels", []Value{x}, "axes", axes)
	}
	r.last(SumRows, []Value{x})
}

// upsample to the nearest pixel repeats elements if the factors are whole
// numbers. Any other upsample has no decomposition.
func decomposeUpsample(r *rewriter) {
	x, size := r.in(0), r.node.Ints("size")
	s := r.Builder.Type(x).Shape
	if r.node.Text("mode") != "nearest" || size[0]%s[1] != 0 || size[1]%s[2] != 0 {
		r.Builder.Fail(fmt.Errorf("node %s: %v by fractions or %q has no decomposition",
			r.name(), r.node.Op, r.node.Text("mode")))
		return
	}
	apart := r.op(Reshape, "apart", []Value{x}, "shape", []int{s[0], s[1], 1, s[2], 1})
	repeated := []int{s[0], s[1], size[0] / s[1], s[2], size[1] / s[2]}
	repeats := r.op(BroadcastTo, "wide", []Value{apart}, "shape", repeated)
	r.last(Reshape, []Value{repeats}, "shape", []int{s[0], size[0], size[1]})
}

// slice_grad with steps of 1 is a pad.
func decomposeSliceGrad(r *rewriter) {
	before, end := r.node.Ints("begin"), r.node.Ints("end")
	after := r.node.Ints("size")
	for i, n := range r.node.SliceStep() {
		if n != 1 {
			r.Builder.Fail(fmt.Errorf("node %s: %v with a step of %d has no decomposition", r.name(), r.node.Op, n))
			return
		}
		after[i] -= end[i]
	}
	r.last(Pad, []Value{r.in(0)}, "before", before, "after", after)
}

// decomposeConvTranspose makes conv_transpose the input gradient of the convolution with
// its kernel, followed by the bias. An output_pad of at least the stride adds rows that no
// window reaches.
func decomposeConvTranspose(r *rewriter) {
	n := r.node
	t := r.From.Values[n.Out[0]].Type
	stride, size, after := n.Ints("stride"), slices.Clone(t.Shape[1:]), []int{0, 0, 0}
	for i, extra := range n.Ints("output_pad") {
		if extra >= stride[i] {
			size[i], after[1+i] = size[i]-extra, extra
		}
	}
	attrs := Attrs{}.With("size", size)
	for _, key := range []string{"stride", "pad", "dilation", "groups"} {
		attrs = attrs.With(key, n.attr(key))
	}
	y := r.Builder.Node(ConvGradInput, r.free(r.name()+".product"), attrs, r.in(0), r.in(1))
	if len(y) == 0 {
		return
	}
	if slices.Max(after) > 0 {
		y[0] = r.op(Pad, "padded", y, "before", []int{0, 0, 0}, "after", after)
	}
	r.addBias(y[0], r.in(2))
}

// addBias ends a decomposition with the bias of channels, if there is one.
func (r *rewriter) addBias(x, bias Value) {
	if bias == None {
		r.done(x)
		return
	}
	shape := []int{r.Builder.Type(x).Shape[0], 1, 1}
	r.last(Add, []Value{x, r.op(Reshape, "bias", []Value{bias}, "shape", shape)})
}
