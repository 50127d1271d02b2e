package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// swinWindow is the side of a window of attention.
const swinWindow = 7

// swinInit draws the weights of all dense layers of Swin.
var swinInit = graph.Init{Rule: "normal", Args: []float64{0.02}}

// swin is Swin-T of Liu et al. 2021, in torchvision's form; maps are [H,W,C].
func swin(n *net, x graph.Value, classes int) graph.Value {
	depths, before := []int{2, 2, 6, 2}, 0
	c := convSpec{out: 96, kernel: 4, stride: 4}
	x = n.byStyleBias("features.0.0", x, c, n.pytorchBound(x, c))
	x = n.lastNorm("features.0.2", n.transpose("features.0.1", x, 1, 2, 0), 1e-5)
	for i, depth := range depths {
		for k := range depth {
			shift, p := k%2*(swinWindow/2), 0.2*float64(before)/11
			x = n.swinBlock(fmt.Sprintf("features.%d.%d", 2*i+1, k), x, 3<<i, shift, p)
			before++
		}
		if i+1 < len(depths) {
			x = n.patchMerging(fmt.Sprintf("features.%d", 2*i+2), x)
		}
	}
	x = n.transpose("permute", n.lastNorm("norm", x, 1e-5), 2, 0, 1)
	return n.dense("head", n.globalPool("avgpool", x), classes, "normal", 0.02, 0)
}

// swinBlock is attention in windows, which may be shifted, and a perceptron.
func (n *net) swinBlock(name string, x graph.Value, heads, shift int, p float64) graph.Value {
	y := n.windowAttention(name+".attn", n.lastNorm(name+".norm1", x, 1e-5), heads, shift)
	x = n.add(name+".add1", x, n.stochasticDepth(name+".depth1", y, p))
	y = n.perceptron(name+".mlp", n.lastNorm(name+".norm2", x, 1e-5), swinInit, 0)
	return n.add(name+".add2", x, n.stochasticDepth(name+".depth2", y, p))
}

// patchMerging turns four neighbouring positions into one.
func (n *net) patchMerging(name string, x graph.Value) graph.Value {
	s := n.Type(x).Shape
	if len(s) != 3 {
		return x
	}
	x = n.padBehind(name+".pad", x, s[0]%2, s[1]%2)
	var corners []graph.Value
	for k, at := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
		corners = append(corners, n.Op(graph.Slice, fmt.Sprintf("%s.part%d", name, k), []graph.Value{x},
			"begin", []int{at[0], at[1], 0}, "end", n.Type(x).Shape, "step", []int{2, 2, 1}))
	}
	x = n.lastNorm(name+".norm", n.Op(graph.Concat, name+".join", corners, "axis", 2), 1e-5)
	w := n.declare(name+".reduction.weight", graph.Weight, swinInit.Rule, swinInit.Args, 2*s[2], 4*s[2])
	return n.Op(graph.Dense, name+".reduction", []graph.Value{x, w}, "leading", 2)
}

// padBehind adds rows and columns of zeros.
func (n *net) padBehind(name string, x graph.Value, rows, columns int) graph.Value {
	if rows == 0 && columns == 0 {
		return x
	}
	return n.Op(graph.Pad, name, []graph.Value{x}, "before", []int{0, 0, 0}, "after", []int{rows, columns, 0})
}

// windowAttention is the attention among the positions of each window.
func (n *net) windowAttention(name string, x graph.Value, heads, shift int) graph.Value {
	const w, area = swinWindow, swinWindow * swinWindow
	s := n.Type(x).Shape
	if len(s) != 3 {
		return x
	}
	c := s[2]
	rows, columns := (s[0]+w-1)/w*w, (s[1]+w-1)/w*w
	x = n.padBehind(name+".padded", x, rows-s[0], columns-s[1])
	down, right := shift, shift
	if rows <= w {
		down = 0
	}
	if columns <= w {
		right = 0
	}
	x = n.rolled(name+".rolled", x, down, right)
	x = n.windows(name, x)
	y := n.positions(name+".qkv", x, 3*c, swinInit, 0)
	y = n.transpose(name+".parts", n.reshape(name+".heads", y, rows*columns/area, area, 3, heads, c/heads),
		2, 0, 3, 1, 4)
	table := n.declare(name+".relative_position_bias_table", graph.Bias, swinInit.Rule, swinInit.Args,
		(2*w-1)*(2*w-1), heads)
	y = n.attention(name, y, n.windowBias(name, table, rows, columns, down, right))
	y = n.reshape(name+".joined", n.transpose(name+".turned", y, 0, 2, 1, 3), rows*columns/area, area, c)
	y = n.positions(name+".proj", y, c, swinInit, 0)
	y = n.transpose(name+".back", n.reshape(name+".apart", y, rows/w, columns/w, w, w, c), 0, 2, 1, 3, 4)
	y = n.rolled(name+".unrolled", n.reshape(name+".map", y, rows, columns, c), -down, -right)
	if rows == s[0] && columns == s[1] {
		return y
	}
	return n.Op(graph.Slice, name+".cut", []graph.Value{y}, "begin", []int{0, 0, 0}, "end", s)
}

// windows cuts a feature map [H,W,C] into windows [count,positions,C].
func (n *net) windows(name string, x graph.Value) graph.Value {
	const w = swinWindow
	s := n.Type(x).Shape
	x = n.reshape(name+".strips", x, s[0]/w, w, s[1]/w, w, s[2])
	x = n.transpose(name+".windows", x, 0, 2, 1, 3, 4)
	return n.reshape(name+".places", x, s[0]*s[1]/(w*w), w*w, s[2])
}

// rolled moves a map up by rows and to the left by columns. Rows and columns that leave the map come back on
// the other side.
func (n *net) rolled(name string, x graph.Value, rows, columns int) graph.Value {
	s := n.Type(x).Shape
	for axis, by := range []int{rows, columns} {
		if by == 0 {
			continue
		}
		index := make([]int, s[axis])
		for i := range index {
			index[i] = (i + by + s[axis]) % s[axis]
		}
		x = n.Op(graph.Take, fmt.Sprintf("%s.%d", name, axis), []graph.Value{x}, "axis", axis, "index", index)
	}
	return x
}
