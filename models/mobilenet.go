package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// invertedStages is table 2 of Sandler et al. 2018: expansion, channels,
// blocks and the stride of the first block.
var invertedStages = []struct{ expand, out, blocks, stride int }{
	{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1},
}

func mobileNetV2(n *net, x graph.Value, classes int) graph.Value {
	n.weights = heOverOut
	x = n.unit("features.0", x, convSpec{out: 32, kernel: 3, stride: 2, pad: 1}, graph.Relu6)
	feature := 1
	for _, s := range invertedStages {
		for i := range s.blocks {
			x = n.inverted(fmt.Sprintf("features.%d", feature), x, s.expand, s.out, atFirst(i, s.stride))
			feature++
		}
	}
	x = n.unit(fmt.Sprintf("features.%d", feature), x, convSpec{out: 1280, kernel: 1, stride: 1}, graph.Relu6)
	x = n.Op(graph.Dropout, "classifier.0", []graph.Value{n.globalPool("pool", x)}, "p", 0.2)
	return n.dense("classifier.1", x, classes, "normal", 0.01, 0)
}

// inverted is an inverted residual: expand, depthwise, project.
func (n *net) inverted(name string, x graph.Value, expand, out, stride int) graph.Value {
	in, y, i := n.channels(x), x, 0
	if expand != 1 {
		y = n.unit(name+".conv.0", y, convSpec{out: in * expand, kernel: 1, stride: 1}, graph.Relu6)
		i = 1
	}
	hidden := in * expand
	y = n.unit(fmt.Sprintf("%s.conv.%d", name, i), y,
		convSpec{out: hidden, kernel: 3, stride: stride, pad: 1, groups: hidden}, graph.Relu6)
	y = n.conv(fmt.Sprintf("%s.conv.%d", name, i+1), y, convSpec{out: out, kernel: 1, stride: 1}, 1)
	y = n.norm(fmt.Sprintf("%s.conv.%d", name, i+2), y)
	if stride != 1 || in != out {
		return y
	}
	return n.add(name+".add", x, y)
}
