package models

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/graph"
)

// mnasStages are the stacks of MNASNet-B1 (Tan et al. 2019, figure 7 of the first version):
// kernel, stride of the first block, expansion, channels, blocks.
var mnasStages = []struct{ kernel, stride, expand, out, blocks int }{
	{3, 2, 3, 24, 3}, {5, 2, 3, 40, 3}, {5, 2, 6, 80, 3}, {3, 1, 6, 96, 2}, {5, 2, 6, 192, 4}, {3, 1, 6, 320, 1},
}

func mnasNet(n *net, x graph.Value, classes int) graph.Value {
	n.style = style{weights: heOverOut, norms: []any{"decay", 0.9997}}
	x = n.sequence("layers.", 0, x, convSpec{out: 32, kernel: 3, stride: 2, pad: 1}, graph.Relu)
	x = n.sequence("layers.", 3, x, convSpec{out: 32, kernel: 3, stride: 1, pad: 1, groups: 32}, graph.Relu)
	x = n.sequence("layers.", 6, x, convSpec{out: 16, kernel: 1, stride: 1}, 0)
	for i, s := range mnasStages {
		for k := range s.blocks {
			x = n.mnasBlock(fmt.Sprintf("layers.%d.%d.layers.", i+8, k), x, s.kernel, atFirst(k, s.stride), s.expand,
				s.out)
		}
	}
	x = n.sequence("layers.", 14, x, convSpec{out: 1280, kernel: 1, stride: 1}, graph.Relu)
	x = n.Op(graph.Dropout, "classifier.0", []graph.Value{n.globalPool("pool", x)}, "p", 0.2)
	return n.dense("classifier.1", x, classes, "uniform", math.Sqrt(3/fanOut(classes)), 0)
}

// mnasBlock is an inverted residual with all layers in one sequence.
func (n *net) mnasBlock(name string, x graph.Value, kernel, stride, expand, out int) graph.Value {
	in := n.channels(x)
	expanded := in * expand
	y := n.sequence(name, 0, x, convSpec{out: expanded, kernel: 1, stride: 1}, graph.Relu)
	y = n.sequence(name, 3, y, convSpec{out: expanded, kernel: kernel, stride: stride, pad: kernel / 2,
		groups: expanded}, graph.Relu)
	y = n.sequence(name, 6, y, convSpec{out: out, kernel: 1, stride: 1}, 0)
	if stride != 1 || in != out {
		return y
	}
	return n.add(name+"add", y, x)
}
