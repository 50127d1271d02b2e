package models

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/graph"
)

// pyramid is the number of channels of all maps of a feature pyramid.
const pyramid = 256

// resNet50Pyramid adds a ResNet-50 with a feature pyramid (Lin et al. 2017) in torchvision's form and names.
// It returns five maps, of an eighth to a 128th of the image. The last two are computed from the third one,
// or from the last map of the ResNet if fromC5 is set (Lin et al. 2017, RetinaNet, has both).
func (n *net) resNet50Pyramid(image graph.Value, fromC5 bool) []graph.Value {
	const prefix = "backbone.fpn."
	stages := n.resNetFeatures("backbone.body.", image, bottleneck, []int{3, 4, 6, 3}, 4)[1:]
	maps := make([]graph.Value, len(stages))
	var above graph.Value
	for i := len(stages) - 1; i >= 0; i-- {
		x := n.lecun(fmt.Sprintf("%sinner_blocks.%d.0", prefix, i), stages[i],
			convSpec{out: pyramid, kernel: 1, stride: 1})
		if i < len(stages)-1 {
			x = n.add(fmt.Sprintf("%sadd%d", prefix, i), x, n.upsampled(fmt.Sprintf("%sup%d", prefix, i), above, x))
		}
		above = x
		maps[i] = n.lecun(fmt.Sprintf("%slayer_blocks.%d.0", prefix, i), x,
			convSpec{out: pyramid, kernel: 3, stride: 1, pad: 1})
	}
	from, half := maps[len(maps)-1], convSpec{out: pyramid, kernel: 3, stride: 2, pad: 1}
	if fromC5 {
		from = stages[len(stages)-1]
	}
	p6 := n.lecun(prefix+"extra_blocks.p6", from, half)
	p7 := n.lecun(prefix+"extra_blocks.p7", n.relu(prefix+"extra_blocks.relu", p6), half)
	return append(maps, p6, p7)
}

// lecun adds a convolution with a bias of zeros, and weights uniform within the root of 3 over the fan-in
// (PyTorch's kaiming_uniform_ with a = 1).
func (n *net) lecun(name string, x graph.Value, c convSpec) graph.Value {
	w := n.kernelBy(name, x, c, graph.Init{Rule: "uniform",
		Args: []float64{math.Sqrt(3) * n.pytorchBound(x, c)}})
	return n.convolve(name, c, x, w, n.bias(name, c.out, 0))
}

// ofHeads is the style of the heads of FCOS, RetinaNet and SSDlite: a small normal distribution.
func ofHeads(deviation float64) style {
	return style{weights: graph.Init{Rule: "normal", Args: []float64{deviation}}}
}

// slots turns a feature map [R, H, W] into columns, [R, H*W].
func (n *net) slots(name string, x graph.Value) graph.Value {
	s := n.Type(x).Shape
	if len(s) != 3 {
		return x
	}
	return n.Op(graph.Reshape, name, []graph.Value{x}, "shape", []int{s[0], s[1] * s[2]})
}
