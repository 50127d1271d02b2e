package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// vggBN returns a configuration of Simonyan and Zisserman 2014, table 1, with batch norm.
// depths are the numbers of 3x3 convolutions before each max pool.
func vggBN(depths ...int) forward {
	return func(n *net, x graph.Value, classes int) graph.Value {
		layer := 0
		for stage, depth := range depths {
			for range depth {
				x = n.vggLayer(layer, x, min(64<<stage, 512))
				layer += 3
			}
			x = n.maxPool(fmt.Sprintf("features.%d", layer), x, 2, 2, 0)
			layer++
		}
		return n.vggHead(x, classes)
	}
}

func (n *net) vggLayer(layer int, x graph.Value, width int) graph.Value {
	x = n.convBias(fmt.Sprintf("features.%d", layer), x, convSpec{out: width, kernel: 3, stride: 1, pad: 1}, 1)
	x = n.norm(fmt.Sprintf("features.%d", layer+1), x)
	return n.relu(fmt.Sprintf("features.%d", layer+2), x)
}

func (n *net) vggHead(x graph.Value, classes int) graph.Value {
	x = n.flatten("flat", n.sevenBySeven(x))
	for _, at := range []int{0, 3} {
		x = n.dense(fmt.Sprintf("classifier.%d", at), x, 4096, "normal", 0.01, 0)
		x = n.relu(fmt.Sprintf("classifier.%d", at+1), x)
		x = n.Op(graph.Dropout, fmt.Sprintf("classifier.%d", at+2), []graph.Value{x}, "p", 0.5)
	}
	return n.dense("classifier.6", x, classes, "normal", 0.01, 0)
}

// sevenBySeven is torchvision's adaptive average pool to 7x7, for sizes that
// give all windows the same size: multiples of 7, and a single pixel, which
// is repeated. Other sizes are an error.
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
