package models

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/graph"
)

// mbStage is a row of table 1 of Tan and Le 2019, or of table 4 of 2021: fused is a
// convolution of 3x3 in place of expansion and depthwise, without squeeze-and-excite.
type mbStage struct {
	expand, kernel, stride, out, blocks int
	fused                               bool
}

var (
	efficientB = []mbStage{{1, 3, 1, 16, 1, false}, {6, 3, 2, 24, 2, false}, {6, 5, 2, 40, 2, false},
		{6, 3, 2, 80, 3, false}, {6, 5, 1, 112, 3, false}, {6, 5, 2, 192, 4, false}, {6, 3, 1, 320, 1, false}}
	efficientV2S = []mbStage{{1, 3, 1, 24, 2, true}, {4, 3, 2, 48, 4, true}, {4, 3, 2, 64, 4, true},
		{4, 3, 2, 128, 6, false}, {6, 3, 1, 160, 9, false}, {6, 3, 2, 256, 15, false}}
)

// efficientNet is a network of stages after a stem, a first convolution, of the given
// width. last is the width before the classifier.
type efficientNet struct {
	stages     []mbStage
	stem, last int
	drop       float64 // dropout before the classifier
	eps        float64 // epsilon of batch norms
}

// efficientNetB scales B0 in width and depth, section 3.3 of 2019.
func efficientNetB(width, depth, drop float64) efficientNet {
	e := efficientNet{drop: drop, eps: 1e-5, stem: scaled8(32, width)}
	for _, s := range efficientB {
		s.out, s.blocks = scaled8(s.out, width), int(math.Ceil(float64(s.blocks)*depth))
		e.stages = append(e.stages, s)
	}
	e.last = 4 * e.stages[len(e.stages)-1].out
	return e
}

// scaled8 scales a width, and rounds as divisibleBy8 does.
func scaled8(n int, factor float64) int {
	v := float64(float64(n) * factor)
	to := max(8, int(v+4)/8*8)
	if float64(to) < float64(0.9*v) {
		to += 8
	}
	return to
}

func (e efficientNet) forward(n *net, x graph.Value, classes int) graph.Value {
	n.style = style{weights: heOverOut, norms: []any{"eps", e.eps}}
	x = n.unit("features.0", x, convSpec{out: e.stem, kernel: 3, stride: 2, pad: 1}, graph.Silu)
	count, before := 0, 0
	for _, s := range e.stages {
		count += s.blocks
	}
	for i, s := range e.stages {
		for k := range s.blocks {
			s.stride = atFirst(k, s.stride)
			// The later the block, the higher the probability to leave it out in training, up to a
			// fifth.
			x = n.mbConv(fmt.Sprintf("features.%d.%d", i+1, k), x, s, 0.2*float64(before)/float64(count))
			before++
		}
	}
	x = n.unit(fmt.Sprintf("features.%d", len(e.stages)+1), x, convSpec{out: e.last, kernel: 1, stride: 1},
		graph.Silu)
	x = n.Op(graph.Dropout, "classifier.0", []graph.Value{n.globalPool("avgpool", x)}, "p", e.drop)
	return n.dense("classifier.1", x, classes, "uniform", 1/math.Sqrt(fanOut(classes)), 0)
}

// mbConv is an inverted residual: expand, depthwise, squeeze and excite, project.
func (n *net) mbConv(name string, x graph.Value, s mbStage, p float64) graph.Value {
	in, y, layer := n.channels(x), x, 0
	next := func() string { layer++; return fmt.Sprintf("%s.block.%d", name, layer-1) }
	expanded, one := in*s.expand, convSpec{out: s.out, kernel: 1, stride: 1}
	window := convSpec{out: expanded, kernel: s.kernel, stride: s.stride, pad: s.kernel / 2}
	switch {
	case s.fused && expanded == in:
		window.out = s.out
		y = n.unit(next(), y, window, graph.Silu)
	case s.fused:
		y = n.unit(next(), y, window, graph.Silu)
		y = n.unit(next(), y, one, 0)
	default:
		if expanded != in {
			y = n.unit(next(), y, convSpec{out: expanded, kernel: 1, stride: 1}, graph.Silu)
		}
		window.groups = expanded
		y = n.unit(next(), y, window, graph.Silu)
		y = n.excite(next(), y, excitation{squeezed: max(1, in/4), activation: graph.Silu, act: graph.Sigmoid})
		y = n.unit(next(), y, one, 0)
	}
	if s.stride != 1 || in != s.out {
		return y
	}
	return n.add(name+".add", n.stochasticDepth(name+".stochastic_depth", y, p), x)
}
