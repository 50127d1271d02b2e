package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// residual adds one block of a ResNet and returns its result.
type residual func(n *net, name string, x graph.Value, width, stride, dilation int) graph.Value

// resNet returns the ResNet for ImageNet of He et al. 2015, table 1.
func resNet(block residual, depths ...int) forward {
	return func(n *net, x graph.Value, classes int) graph.Value {
		stages := n.resNetFeatures("", x, block, depths, len(depths))
		return n.head("fc", n.globalPool("avgpool", stages[len(stages)-1]), classes)
	}
}

// resNetFeatures adds a ResNet without its head and returns the results of its stages;
// prefix begins all names. From stage dilate on, convolutions are dilated instead of having
// a stride, so that the weights are those of the classifier and the maps stay large.
func (n *net) resNetFeatures(prefix string, x graph.Value, block residual, depths []int,
	dilate int) (stages []graph.Value) {
	x = n.conv(prefix+"conv1", x, convSpec{out: 64, kernel: 7, stride: 2, pad: 3}, 1)
	x = n.relu(prefix+"relu", n.norm(prefix+"bn1", x))
	x = n.maxPool(prefix+"maxpool", x, 3, 2, 1)
	dilation := 1
	for stage, depth := range depths {
		stride, first := 2, dilation
		switch {
		case stage == 0:
			stride = 1
		case stage >= dilate:
			stride, dilation = 1, 2*dilation
		}
		for i := range depth {
			name := fmt.Sprintf("%slayer%d.%d", prefix, stage+1, i)
			if i > 0 {
				stride, first = 1, dilation
			}
			x = block(n, name, x, 64<<stage, stride, first)
		}
		stages = append(stages, x)
	}
	return stages
}

func basicBlock(n *net, name string, x graph.Value, width, stride, _ int) graph.Value {
	y := n.conv(name+".conv1", x, convSpec{out: width, kernel: 3, stride: stride, pad: 1}, 1)
	y = n.relu(name+".relu1", n.norm(name+".bn1", y))
	y = n.conv(name+".conv2", y, convSpec{out: width, kernel: 3, stride: 1, pad: 1}, 1)
	y = n.norm(name+".bn2", y)
	return n.relu(name+".relu2", n.add(name+".add", y, n.projection(name, x, width, stride)))
}

// bottleneck has torchvision's form: the stride is in the 3x3 convolution ("version 1.5").
func bottleneck(n *net, name string, x graph.Value, width, stride, dilation int) graph.Value {
	return n.bottleneck(name, x, 1, 4*width,
		convSpec{out: width, kernel: 3, stride: stride, pad: dilation, dilation: dilation})
}

// bottleneckV1 has the stride in the first convolution of 1x1, as the paper, Caffe2 and
// Detectron ("caffe style") have it. The weights have the same names and shapes.
func bottleneckV1(n *net, name string, x graph.Value, width, stride, dilation int) graph.Value {
	return n.bottleneck(name, x, stride, 4*width,
		convSpec{out: width, kernel: 3, stride: 1, pad: dilation, dilation: dilation})
}

// bottlenecks returns a bottleneck with groups in its 3x3 convolution. In the first stage each group has
// perGroup channels. This is ResNeXt (Xie et al. 2017), and with one group Wide ResNet (Zagoruyko 2016).
func bottlenecks(groups, perGroup int) residual {
	return func(n *net, name string, x graph.Value, width, stride, dilation int) graph.Value {
		return n.bottleneck(name, x, 1, 4*width, convSpec{out: groups * perGroup * width / 64, kernel: 3,
			stride: stride, pad: dilation, dilation: dilation, groups: groups})
	}
}

// bottleneck adds a block around its middle convolution. The argument first is the stride
// of the convolution before the middle one.
func (n *net) bottleneck(name string, x graph.Value, first, out int, middle convSpec) graph.Value {
	y := n.conv(name+".conv1", x, convSpec{out: middle.out, kernel: 1, stride: first}, 1)
	y = n.relu(name+".relu1", n.norm(name+".bn1", y))
	y = n.conv(name+".conv2", y, middle, 1)
	y = n.relu(name+".relu2", n.norm(name+".bn2", y))
	y = n.conv(name+".conv3", y, convSpec{out: out, kernel: 1, stride: 1}, 1)
	y = n.norm(name+".bn3", y)
	return n.relu(name+".relu3", n.add(name+".add", y, n.projection(name, x, out, first*middle.stride)))
}

// projection is the shortcut: x itself where it fits, else a 1x1 convolution
// and a batch norm.
func (n *net) projection(name string, x graph.Value, width, stride int) graph.Value {
	if stride == 1 && n.channels(x) == width {
		return x
	}
	y := n.conv(name+".downsample.0", x, convSpec{out: width, kernel: 1, stride: stride}, 1)
	return n.norm(name+".downsample.1", y)
}
