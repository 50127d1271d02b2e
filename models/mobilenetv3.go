package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// mobileV3 is a row of the tables of Howard et al. 2019.
type mobileV3 struct {
	kernel, expanded, out int
	squeeze, swish        bool
	stride                int
}

// mobileV3Large and mobileV3Small are tables 1 and 2.
var (
	mobileV3Large = []mobileV3{
		{3, 16, 16, false, false, 1}, {3, 64, 24, false, false, 2}, {3, 72, 24, false, false, 1},
		{5, 72, 40, true, false, 2}, {5, 120, 40, true, false, 1}, {5, 120, 40, true, false, 1},
		{3, 240, 80, false, true, 2}, {3, 200, 80, false, true, 1}, {3, 184, 80, false, true, 1},
		{3, 184, 80, false, true, 1}, {3, 480, 112, true, true, 1}, {3, 672, 112, true, true, 1},
		{5, 672, 160, true, true, 2}, {5, 960, 160, true, true, 1}, {5, 960, 160, true, true, 1},
	}
	mobileV3Small = []mobileV3{
		{3, 16, 16, true, false, 2}, {3, 72, 24, false, false, 2}, {3, 88, 24, false, false, 1},
		{5, 96, 40, true, true, 2}, {5, 240, 40, true, true, 1}, {5, 240, 40, true, true, 1},
		{5, 120, 48, true, true, 1}, {5, 144, 48, true, true, 1}, {5, 288, 96, true, true, 2},
		{5, 576, 96, true, true, 1}, {5, 576, 96, true, true, 1},
	}
)

// mobileV3Style is the style of its convolutions and batch norms.
var mobileV3Style = style{weights: heOverOut, norms: []any{"eps", 1e-3, "decay", 0.99}}

// mobileNetV3 returns a classifier of a table; hidden is the width before the last layer.
func mobileNetV3(table []mobileV3, hidden int) forward {
	return func(n *net, x graph.Value, classes int) graph.Value {
		n.style = mobileV3Style
		maps := n.mobileV3Features("features.%d", "block", x, table, len(table))
		y := n.globalPool("avgpool", maps[len(maps)-1])
		y = n.dense("classifier.0", y, hidden, "normal", 0.01, 0)
		y = n.Op(graph.HardSwish, "classifier.1", []graph.Value{y})
		y = n.Op(graph.Dropout, "classifier.2", []graph.Value{y}, "p", 0.2)
		return n.dense("classifier.3", y, classes, "normal", 0.01, 0)
	}
}

// mobileV3Features adds the features of a table and returns the results of all layers. The
// name of layer i follows from pattern. From block dilate on maps stay large: convolutions
// are dilated instead of having a stride.
func (n *net) mobileV3Features(pattern, block string, x graph.Value, table []mobileV3,
	dilate int) []graph.Value {
	maps := []graph.Value{n.unit(fmt.Sprintf(pattern, 0), x, convSpec{out: 16, kernel: 3, stride: 2, pad: 1},
		graph.HardSwish)}
	for i, b := range table {
		dilation := 1
		if i >= dilate {
			b.stride, dilation = 1, 2
		}
		name := fmt.Sprintf(pattern+"."+block, i+1)
		maps = append(maps, n.mobileV3Block(name, maps[i], b, dilation))
	}
	last := maps[len(maps)-1]
	return append(maps, n.unit(fmt.Sprintf(pattern, len(maps)), last,
		convSpec{out: 6 * n.channels(last), kernel: 1, stride: 1}, graph.HardSwish))
}

// mobileV3Block is an inverted residual: expand, depthwise, squeeze and excite, project.
func (n *net) mobileV3Block(name string, x graph.Value, b mobileV3, dilation int) graph.Value {
	activation := graph.Relu
	if b.swish {
		activation = graph.HardSwish
	}
	in, y, layer := n.channels(x), x, 0
	next := func() string { layer++; return fmt.Sprintf("%s.%d", name, layer-1) }
	if b.expanded != in {
		y = n.unit(next(), y, convSpec{out: b.expanded, kernel: 1, stride: 1}, activation)
	}
	y = n.unit(next(), y, convSpec{out: b.expanded, kernel: b.kernel, stride: b.stride,
		pad: (b.kernel - 1) / 2 * dilation, groups: b.expanded, dilation: dilation}, activation)
	if b.squeeze {
		y = n.excite(next(), y, excitation{squeezed: divisibleBy8(b.expanded / 4), activation: graph.Relu,
			act: graph.HardSigmoid})
	}
	y = n.unit(next(), y, convSpec{out: b.out, kernel: 1, stride: 1}, 0)
	if b.stride != 1 || in != b.out {
		return y
	}
	return n.add(name+".add", y, x)
}

// divisibleBy8 rounds to a multiple of 8, by no more than a tenth down.
func divisibleBy8(n int) int {
	to := max(8, (n+4)/8*8)
	if 10*to < 9*n {
		to += 8
	}
	return to
}
