package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// cifarResNet returns the ResNet for CIFAR-10 of He et al. 2015, section 4.2,
// with 6n+2 layers: three stages of n blocks with 16, 32 and 64 channels.
func cifarResNet(blocks int) forward {
	return func(n *net, x graph.Value, classes int) graph.Value {
		x = n.conv("conv1", x, convSpec{out: 16, kernel: 3, stride: 1, pad: 1}, 0)
		x = n.relu("relu", n.norm("bn1", x))
		for stage, width := range []int{16, 32, 64} {
			for i := range blocks {
				stride := 1
				if i == 0 && stage > 0 {
					stride = 2
				}
				x = n.cifarBlock(fmt.Sprintf("layer%d.%d", stage+1, i), x, width, stride)
			}
		}
		return n.head("linear", n.globalPool("pool", x), classes)
	}
}

func (n *net) cifarBlock(name string, x graph.Value, width, stride int) graph.Value {
	y := n.conv(name+".conv1", x, convSpec{out: width, kernel: 3, stride: stride, pad: 1}, 0)
	y = n.relu(name+".relu1", n.norm(name+".bn1", y))
	y = n.conv(name+".conv2", y, convSpec{out: width, kernel: 3, stride: 1, pad: 1}, 0)
	y = n.norm(name+".bn2", y)
	return n.relu(name+".relu2", n.add(name+".add", y, n.optionA(name, x, width, stride)))
}

// optionA is the shortcut without parameters: every second pixel, and zeros for the new
// channels, half of them before and half after the others.
func (n *net) optionA(name string, x graph.Value, width, stride int) graph.Value {
	s := n.Type(x).Shape
	if len(s) != 3 || stride == 1 && s[0] == width {
		return x
	}
	x = n.Op(graph.Slice, name+".shortcut.slice", []graph.Value{x},
		"begin", []int{0, 0, 0}, "end", s, "step", []int{1, stride, stride})
	front := (width - s[0]) / 2
	return n.Op(graph.Pad, name+".shortcut.pad", []graph.Value{x},
		"before", []int{front, 0, 0}, "after", []int{width - s[0] - front, 0, 0})
}
