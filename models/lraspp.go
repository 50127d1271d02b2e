package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// mobileV3 is a row of table 1 of Howard et al. 2019, MobileNetV3-Large.
type mobileV3 struct {
	kernel, expanded, out int
	squeeze, swish        bool
	stride, dilation      int
}

// mobileV3Large is that table, whose last stage is dilated instead of strided.
var mobileV3Large = []mobileV3{
	{3, 16, 16, false, false, 1, 1}, {3, 64, 24, false, false, 2, 1}, {3, 72, 24, false, false, 1, 1},
	{5, 72, 40, true, false, 2, 1}, {5, 120, 40, true, false, 1, 1}, {5, 120, 40, true, false, 1, 1},
	{3, 240, 80, false, true, 2, 1}, {3, 200, 80, false, true, 1, 1}, {3, 184, 80, false, true, 1, 1},
	{3, 184, 80, false, true, 1, 1}, {3, 480, 112, true, true, 1, 1}, {3, 672, 112, true, true, 1, 1},
	{5, 672, 160, true, true, 1, 2}, {5, 960, 160, true, true, 1, 2}, {5, 960, 160, true, true, 1, 2},
}

// lraspp is Lite R-ASPP on MobileNetV3-Large (Howard et al. 2019), in torchvision's
// form and names: classes are told from maps of an eighth and of a sixteenth of
// the image, the second weighted by the mean of the image.
func lraspp(n *net, image graph.Value, classes int) graph.Value {
	const width, low = 128, 4 // low: the block whose maps are an eighth
	x := n.mobileV3Norm("backbone.0", image, convSpec{out: 16, kernel: 3, stride: 2, pad: 1}, graph.HardSwish)
	var eighth graph.Value
	for i, b := range mobileV3Large {
		if x = n.mobileV3Block(fmt.Sprintf("backbone.%d.block", i+1), x, b); i+1 == low {
			eighth = x
		}
	}
	last := fmt.Sprintf("backbone.%d", len(mobileV3Large)+1)
	x = n.mobileV3Norm(last, x, convSpec{out: 6 * n.channels(x), kernel: 1, stride: 1}, graph.HardSwish)
	one := convSpec{out: width, kernel: 1, stride: 1}
	y := n.convNormReluAs("classifier.cbr.", 0, x, one)
	mean := n.Op(graph.GlobalAvgPool, "classifier.scale.0", []graph.Value{x})
	scale := n.Op(graph.Sigmoid, "classifier.scale.2", []graph.Value{n.conv("classifier.scale.1", mean, one, 0)})
	y = n.Op(graph.Mul, "classifier.scaled", []graph.Value{y, scale})
	y = n.upsampleTo("classifier.upsampled", y, eighth)
	first := n.pixelHead("classifier.low_classifier", eighth, classes)
	y = n.add("classifier.add", first, n.pixelHead("classifier.high_classifier", y, classes))
	return n.upsampleTo("scale", y, image)
}

// mobileV3Block is an inverted residual: expand, depthwise, squeeze and excite, project.
func (n *net) mobileV3Block(name string, x graph.Value, b mobileV3) graph.Value {
	activation := graph.Relu
	if b.swish {
		activation = graph.HardSwish
	}
	in, y, layer := n.channels(x), x, 0
	next := func() string { layer++; return fmt.Sprintf("%s.%d", name, layer-1) }
	if b.expanded != in {
		y = n.mobileV3Norm(next(), y, convSpec{out: b.expanded, kernel: 1, stride: 1}, activation)
	}
	y = n.mobileV3Norm(next(), y, convSpec{out: b.expanded, kernel: b.kernel, stride: b.stride,
		pad: (b.kernel - 1) / 2 * b.dilation, groups: b.expanded, dilation: b.dilation}, activation)
	if b.squeeze {
		y = n.squeezeExcite(next(), y)
	}
	y = n.mobileV3Linear(next(), y, convSpec{out: b.out, kernel: 1, stride: 1})
	if b.stride != 1 || in != b.out {
		return y
	}
	return n.add(name+".add", y, x)
}

// mobileV3Norm is convolution, batch norm and activation: layers 0, 1 and 2 under name.
func (n *net) mobileV3Norm(name string, x graph.Value, c convSpec, activation graph.Op) graph.Value {
	return n.Op(activation, name+".2", []graph.Value{n.mobileV3Linear(name, x, c)})
}

func (n *net) mobileV3Linear(name string, x graph.Value, c convSpec) graph.Value {
	return n.norm(name+".1", n.conv(name+".0", x, c, 1), "eps", 1e-3, "decay", 0.99)
}

// squeezeExcite scales each channel by what a small network makes of the means of
// all (Hu et al. 2018), with MobileNetV3's hard sigmoid.
func (n *net) squeezeExcite(name string, x graph.Value) graph.Value {
	c := n.channels(x)
	y := n.Op(graph.GlobalAvgPool, name+".avgpool", []graph.Value{x})
	y = n.convBias(name+".fc1", y, convSpec{out: divisibleBy8(c / 4), kernel: 1, stride: 1}, 1)
	y = n.convBias(name+".fc2", n.relu(name+".activation", y), convSpec{out: c, kernel: 1, stride: 1}, 1)
	y = n.Op(graph.HardSigmoid, name+".scale_activation", []graph.Value{y}, "alpha", 1.0/6, "beta", 0.5)
	return n.Op(graph.Mul, name+".scaled", []graph.Value{x, y})
}

// divisibleBy8 rounds to a multiple of 8, by no more than a tenth down.
func divisibleBy8(n int) int {
	to := max(8, (n+4)/8*8)
	if 10*to < 9*n {
		to += 8
	}
	return to
}
