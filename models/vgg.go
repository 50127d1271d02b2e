package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// vgg16Plan is configuration D of Simonyan and Zisserman 2014: channels of the
// 3x3 convolutions, 0 for a max pool.
var vgg16Plan = []int{64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0}

func vgg16BN(n *net, x graph.Value, classes int) graph.Value {
	layer := 0
	for _, width := range vgg16Plan {
		if width == 0 {
			x = n.maxPool(fmt.Sprintf("features.%d", layer), x, 2, 2, 0)
			layer++
			continue
		}
		x = n.convBias(fmt.Sprintf("features.%d", layer), x, convSpec{out: width, kernel: 3, stride: 1, pad: 1}, 1)
		x = n.norm(fmt.Sprintf("features.%d", layer+1), x)
		x = n.relu(fmt.Sprintf("features.%d", layer+2), x)
		layer += 3
	}
	x = n.flatten("flat", n.sevenBySeven(x))
	for _, at := range []int{0, 3} {
		x = n.dense(fmt.Sprintf("classifier.%d", at), x, 4096, "normal", 0.01, 0)
		x = n.relu(fmt.Sprintf("classifier.%d", at+1), x)
		x = n.Op(graph.Dropout, fmt.Sprintf("classifier.%d", at+2), []graph.Value{x}, "p", 0.5)
	}
	return n.dense("classifier.6", x, classes, "normal", 0.01, 0)
}

// sevenBySeven is torchvision's adaptive average pool to 7x7 for the sizes
// where its windows are all alike: multiples of 7, and a single pixel, which
// it repeats. Other sizes are an error.
func (n *net) sevenBySeven(x graph.Value) graph.Value {
	const side = 7
	s := n.Type(x).Shape
	switch {
	case len(s) != 3 || s[1] == side && s[2] == side:
		return x
	case s[1] == 1 && s[2] == 1:
		return n.Op(graph.Upsample, "avgpool", []graph.Value{x}, "size", []int{side, side})
	case s[1]%side != 0 || s[2]%side != 0:
		n.Fail(fmt.Errorf("its last feature map would be %dx%d; sides of 32, 224 and other multiples of 224 "+
			"will do", s[1], s[2]))
		return graph.None
	}
	window := []int{s[1] / side, s[2] / side}
	return n.Op(graph.AvgPool, "avgpool", []graph.Value{x}, "kernel", window, "stride", window)
}
