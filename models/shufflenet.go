package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// shuffleNetV2 returns the network of Ma et al. 2018, table 5, with stages of these widths.
func shuffleNetV2(widths ...int) forward {
	return func(n *net, x graph.Value, classes int) graph.Value {
		x = n.unit("conv1", x, convSpec{out: 24, kernel: 3, stride: 2, pad: 1}, graph.Relu)
		x = n.maxPool("maxpool", x, 3, 2, 1)
		for i, depth := range []int{4, 8, 4} {
			for k := range depth {
				name := fmt.Sprintf("stage%d.%d", i+2, k)
				if k == 0 {
					x = n.shuffleDown(name, x, widths[i])
				} else {
					x = n.shuffleUnit(name, x)
				}
			}
		}
		x = n.unit("conv5", x, convSpec{out: 1024, kernel: 1, stride: 1}, graph.Relu)
		return n.head("fc", n.globalPool("pool", x), classes)
	}
}

// shuffleUnit leaves half of the channels as they are.
func (n *net) shuffleUnit(name string, x graph.Value) graph.Value {
	s := n.Type(x).Shape
	if len(s) != 3 {
		return x
	}
	half := func(side string, begin, end int) graph.Value {
		return n.Op(graph.Slice, name+"."+side, []graph.Value{x}, "begin", []int{begin, 0, 0},
			"end", []int{end, s[1], s[2]})
	}
	left := half("left", 0, s[0]/2)
	return n.shuffled(name, left, n.shuffleBranch(name+".branch2.", half("right", s[0]/2, s[0]), s[0]/2, 1))
}

// shuffleDown halves height and width in two branches.
func (n *net) shuffleDown(name string, x graph.Value, out int) graph.Value {
	in := n.channels(x)
	y := n.sequence(name+".branch1.", 0, x, convSpec{out: in, kernel: 3, stride: 2, pad: 1, groups: in}, 0)
	y = n.sequence(name+".branch1.", 2, y, convSpec{out: out / 2, kernel: 1, stride: 1}, graph.Relu)
	return n.shuffled(name, y, n.shuffleBranch(name+".branch2.", x, out/2, 2))
}

func (n *net) shuffleBranch(name string, x graph.Value, out, stride int) graph.Value {
	one := convSpec{out: out, kernel: 1, stride: 1}
	x = n.sequence(name, 0, x, one, graph.Relu)
	x = n.sequence(name, 3, x, convSpec{out: out, kernel: 3, stride: stride, pad: 1, groups: out}, 0)
	return n.sequence(name, 5, x, one, graph.Relu)
}

// shuffled concatenates two maps and alternates their channels.
func (n *net) shuffled(name string, a, b graph.Value) graph.Value {
	x := n.concat(name+".join", a, b)
	half := n.channels(x) / 2
	index := make([]int, 2*half)
	for i := range index {
		index[i] = i%2*half + i/2
	}
	return n.Op(graph.Take, name+".shuffle", []graph.Value{x}, "axis", 0, "index", index)
}
