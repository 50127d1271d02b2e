package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// regNet is a network of Radosavovic et al. 2020, with the numbers that their rule gives:
// widths and depths of the four stages, and the width of a group. RegNetY has a
// squeeze-and-excite in its blocks.
type regNet struct {
	widths, depths [4]int
	group          int
	excite         bool
}

func (r regNet) forward(n *net, x graph.Value, classes int) graph.Value {
	n.weights = heOverOut
	x = n.unit("stem", x, convSpec{out: 32, kernel: 3, stride: 2, pad: 1}, graph.Relu)
	for i, depth := range r.depths {
		for k := range depth {
			x = r.block(n, fmt.Sprintf("trunk_output.block%d.block%d-%d", i+1, i+1, k), x, r.widths[i], atFirst(k, 2))
		}
	}
	return n.dense("fc", n.globalPool("avgpool", x), classes, "normal", 0.01, 0)
}

// block is a residual block of three convolutions: 1x1, 3x3 in groups, and 1x1.
func (r regNet) block(n *net, name string, x graph.Value, width, stride int) graph.Value {
	in, shortcut := n.channels(x), x
	if in != width || stride != 1 {
		shortcut = n.unit(name+".proj", x, convSpec{out: width, kernel: 1, stride: stride}, 0)
	}
	y := n.unit(name+".f.a", x, convSpec{out: width, kernel: 1, stride: 1}, graph.Relu)
	y = n.unit(name+".f.b", y, convSpec{out: width, kernel: 3, stride: stride, pad: 1, groups: width / r.group},
		graph.Relu)
	if r.excite {
		y = n.excite(name+".f.se", y, excitation{squeezed: in / 4, activation: graph.Relu, act: graph.Sigmoid,
			bound: -1})
	}
	y = n.unit(name+".f.c", y, convSpec{out: width, kernel: 1, stride: 1}, 0)
	return n.relu(name+".activation", n.add(name+".add", shortcut, y))
}
