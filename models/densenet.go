package models

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/graph"
)

// denseNet returns DenseNet-BC of Huang et al. 2017, table 1, with a growth of 32.
func denseNet(depths ...int) forward {
	return func(n *net, x graph.Value, classes int) graph.Value {
		n.weights = heOverIn
		x = n.byStyle("features.conv0", x, convSpec{out: 64, kernel: 7, stride: 2, pad: 3})
		x = n.relu("features.relu0", n.norm("features.norm0", x))
		x = n.maxPool("features.pool0", x, 3, 2, 1)
		for i, depth := range depths {
			x = n.denseBlock(fmt.Sprintf("features.denseblock%d", i+1), x, depth)
			if i+1 < len(depths) {
				x = n.transition(fmt.Sprintf("features.transition%d", i+1), x)
			}
		}
		x = n.relu("relu", n.norm("features.norm5", x))
		x = n.globalPool("pool", x)
		return n.dense("classifier", x, classes, "uniform", 1/math.Sqrt(float64(n.channels(x))), 0)
	}
}

// denseBlock adds layers that each read the results of all previous layers.
func (n *net) denseBlock(name string, x graph.Value, depth int) graph.Value {
	const growth = 32
	for i := range depth {
		layer := fmt.Sprintf("%s.denselayer%d", name, i+1)
		y := n.normReluConv(layer, "1", x, convSpec{out: 4 * growth, kernel: 1, stride: 1})
		y = n.normReluConv(layer, "2", y, convSpec{out: growth, kernel: 3, stride: 1, pad: 1})
		x = n.concat(layer+".join", x, y)
	}
	return x
}

// transition halves the channels, height and width.
func (n *net) transition(name string, x graph.Value) graph.Value {
	x = n.normReluConv(name, "", x, convSpec{out: n.channels(x) / 2, kernel: 1, stride: 1})
	return n.Op(graph.AvgPool, name+".pool", []graph.Value{x}, "kernel", []int{2, 2}, "stride", []int{2, 2})
}

// normReluConv adds batch norm, relu and convolution, with names that end in number.
func (n *net) normReluConv(name, number string, x graph.Value, c convSpec) graph.Value {
	x = n.relu(name+".relu"+number, n.norm(name+".norm"+number, x))
	return n.byStyle(name+".conv"+number, x, c)
}
