package devicetest

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// many is an odd number of channels, larger than the blocks of all kernels.
const many = 1031

// wideWindows are convolutions of many channels on the input or on the output.
var wideWindows = []convolution{
	{name: "1x1 of 519 to 131 channels", in: 519, out: 131, h: 2, w: 1, kh: 1, kw: 1, bias: true},
	{name: "1x1 of 65 to 515 channels", in: 65, out: 515, h: 1, w: 2, kh: 1, kw: 1},
	{name: "3x3 of 131 to 67 channels", in: 131, out: 67, h: 3, w: 2, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1}},
	{name: "depthwise, 519 channels", in: 519, out: 519, h: 3, w: 3, kh: 3, kw: 3, pad: [4]int{1, 1, 1, 1},
		groups: 519},
}

// wideProbes are operations on many channels, more than the blocks of kernels.
func wideProbes() []probe {
	var p []probe
	for _, c := range wideWindows {
		p = append(p, c.probes()...)
	}
	p = append(p, matrixProbes(many, 263, "1031 to 263")...)
	p = append(p, matrixProbes(129, many, "129 to 1031")...)
	p = append(p, pool{"1031 channels", many, 3, 2, [2]int{2, 2}, [2]int{1, 1}, [4]int{}}.probes()...)
	const name = "1031 channels"
	x, y, image := rows(many), rows(many), rows(many, 1, 2)
	channels := func(f filler) operand { return whole(many).filledBy(f) }
	batch := moment(whole, many, 36)
	p = append(p, []probe{
		{name, graph.ConvTranspose, []any{"stride", []int{2, 2}},
			[]operand{rows(many, 1, 2), whole(many, 3, 2, 2)}, products(many)},
		{name, graph.Moments, nil, []operand{image}, blended},
		{name, graph.RunningMoments, nil, []operand{channels(normal), channels(positive)}, bits},
		{name, graph.SelectMoments, []any{"min", 2}, []operand{moment(replica, many, 2), moment(whole, many, -1)},
			bits},
		{name, graph.Normalise, perBatch, []operand{image, batch, channels(normal), channels(normal)}, blended},
		{name, graph.NormaliseGradSums, []any{"over", "batch"}, []operand{image, image, batch}, blended},
		{name, graph.NormaliseGradInput, perBatch,
			[]operand{image, image, batch, gradSums(whole, many), channels(normal)}, blended},
		{name, graph.NormaliseGradParams, eps, []operand{batch, gradSums(whole, many)}, rounded},
		{name, graph.BatchNorm, eps, []operand{image, channels(normal), channels(normal), channels(normal),
			channels(positive)}, blended},
		{name, graph.Prelu, nil, []operand{image.filledBy(fewValues), channels(normal)}, rounded},
		{name, graph.PreluGradInput, nil, []operand{image.filledBy(fewValues), channels(normal), image}, rounded},
		{name, graph.PreluGradSlope, nil, []operand{image, image}, products(18)},
		{name, graph.Softmax, []any{"axis", 0}, []operand{image}, function},
		{name, graph.LogSoftmax, []any{"axis", 0}, []operand{image}, blended},
		{name, graph.SoftmaxGrad, []any{"axis", 0}, []operand{image, image}, products(many)},
		{name, graph.LogSoftmaxGrad, []any{"axis", 0}, []operand{image, image}, products(many)},
		{name, graph.GlobalAvgPool, nil, []operand{rows(many, 2, 2)}, products(1)},
		{name, graph.GlobalAvgPoolGrad, []any{"size", []int{2, 2}}, []operand{rows(many, 1, 1)}, rounded},
		{name, graph.Add, nil, []operand{x, y}, rounded},
		{name, graph.Sub, nil, []operand{x, y}, rounded},
		{name, graph.Mul, nil, []operand{x, channels(normal)}, rounded},
		{name, graph.Div, nil, []operand{x, channels(positive)}, rounded},
		{name, graph.Exp, nil, []operand{x}, function},
		{name, graph.Log, nil, []operand{x.filledBy(positive)}, function},
		{name, graph.Sqrt, nil, []operand{x.filledBy(positive)}, rounded},
		{name, graph.Affine, []any{"by", 0.1, "add", -0.7}, []operand{x}, rounded},
		{name, graph.ReduceSum, []any{"axes", []int{0}}, []operand{image}, products(many)},
		{name, graph.ReduceMean, []any{"axes", []int{0}}, []operand{image}, products(many)},
		{name, graph.BroadcastTo, []any{"shape", []int{many, 2}}, []operand{rows(many, 1)}, bits},
		{name, graph.SumRows, nil, []operand{x}, products(3)},
		{name, graph.ChannelSum, nil, []operand{image}, products(6)},
		{name, graph.Concat, nil, []operand{rows(519), rows(515)}, bits},
		{name, graph.Slice, []any{"begin", []int{1}, "end", []int{many}, "step", []int{3}}, []operand{x}, bits},
		{name, graph.SliceGrad, []any{"begin", []int{1}, "end", []int{many}, "step", []int{2}, "size", []int{many}},
			[]operand{rows(many / 2)}, bits},
		{name, graph.Pad, []any{"before", []int{3}, "after", []int{2}}, []operand{x}, bits},
		{name, graph.Reshape, []any{"shape", []int{2 * many}}, []operand{image}, bits},
		{name, graph.Transpose, []any{"perm", []int{1, 0}}, []operand{rows(many, 2)}, bits},
		{name, graph.Upsample, []any{"size", []int{2, 3}}, []operand{image}, bits},
		{name, graph.UpsampleGrad, []any{"from", []int{1, 2}}, []operand{rows(many, 2, 4)}, blended},
		{name, graph.Dropout, []any{"p", 0.5, "seed", 7}, dropped(many), bits},
		{"1031 classes", graph.SoftmaxXent, nil, []operand{x, labels(many, -1)}, losses},
		{"1031 classes", graph.SoftmaxXentGrad, nil, []operand{x, labels(many, -1), inverse}, function},
		{"1031 classes", graph.Correct, nil, []operand{x, labels(many, -1)}, bits},
		{"65 channels", graph.Image, nil, []operand{rows(1, 2, 65).withType(tensor.U8).filledBy(bytes)}, bits},
	}...)
	for _, o := range []graph.Op{graph.Relu, graph.Relu6, graph.LeakyRelu, graph.Elu, graph.Sigmoid,
		graph.HardSigmoid, graph.Silu, graph.HardSwish, graph.Tanh, graph.Softplus,
		graph.Erf, graph.Gelu, graph.GeluTanh, graph.Mish} {
		p = append(p, probe{name, o, nil, []operand{x}, blended})
	}
	return append(p,
		probe{name, graph.Clip, []any{"min", -1.0, "max", 1.0}, []operand{x}, bits},
		probe{name, graph.ActivationGrad, []any{"of", "relu"}, []operand{x, y}, rounded})
}
