package models

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// yolox is YOLOX (Ge et al. 2021, arXiv 2107.08430) in the form and names of its authors: a
// CSPDarknet, a PAFPN and a decoupled head on maps of 1/8, 1/16 and 1/32 of the picture's size.
type yolox struct {
	depth, width float64 // factors of the number of blocks and channels
	depthwise    bool
}

func (y yolox) forward(n *net, image graph.Value, classes int) graph.Value {
	n.norms = []any{"eps", 1e-3, "decay", 0.97}
	return y.head(n, y.fpn(n, y.darknet(n, image)), classes)
}

// channels returns a number of channels multiplied by the factor.
func (y yolox) channels(count int) int { return int(float64(count) * y.width) }

// blocks returns a number of blocks multiplied by the factor, and at least 1.
func (y yolox) blocks(count int) int {
	return max(int(math.RoundToEven(float64(count)*y.depth)), 1)
}

// base adds a convolution that keeps the size, except for the stride, a batch norm and silu.
func (n *net) base(name string, x graph.Value, c convSpec) graph.Value {
	c.pad = (c.kernel - 1) / 2
	x = n.norm(name+".bn", n.byStyle(name+".conv", x, c))
	return n.Op(graph.Silu, name+".act", []graph.Value{x})
}

func (n *net) pointwise(name string, x graph.Value, out int) graph.Value {
	return n.base(name, x, convSpec{out: out, kernel: 1, stride: 1})
}

// conv adds a 3x3 convolution, or if y is depthwise, a depthwise 3x3 and a pointwise one.
func (y yolox) conv(n *net, name string, x graph.Value, out, stride int) graph.Value {
	if !y.depthwise {
		return n.base(name, x, convSpec{out: out, kernel: 3, stride: stride})
	}
	c := n.channels(x)
	x = n.base(name+".dconv", x, convSpec{out: c, kernel: 3, stride: stride, groups: c})
	return n.pointwise(name+".pconv", x, out)
}

// csp adds a cross-stage partial layer with a number of bottlenecks.
func (y yolox) csp(n *net, name string, x graph.Value, out, blocks int, shortcut bool) graph.Value {
	a, b := n.pointwise(name+".conv1", x, out/2), n.pointwise(name+".conv2", x, out/2)
	for i := range blocks {
		block := fmt.Sprintf("%s.m.%d", name, i)
		inner := y.conv(n, block+".conv2", n.pointwise(block+".conv1", a, out/2), out/2, 1)
		if shortcut {
			inner = n.add(block+".add", inner, a)
		}
		a = inner
	}
	return n.pointwise(name+".conv3", n.concat(name+".join", a, b), out)
}

// darknet returns the maps with 1/8, 1/16 and 1/32 of the image's height and width.
func (y yolox) darknet(n *net, image graph.Value) (maps []graph.Value) {
	const prefix = "backbone.backbone."
	stem := convSpec{out: y.channels(64), kernel: 3, stride: 1}
	x := n.base(prefix+"stem.conv", n.focus(prefix+"stem", image), stem)
	for i, blocks := range []int{1, 3, 3, 1} {
		stage, out := fmt.Sprintf("%sdark%d", prefix, i+2), y.channels(64)<<(i+1)
		x = y.conv(n, stage+".0", x, out, 2)
		last := i == 3
		if last {
			x = n.spatialPyramid(stage+".1", x, out)
			stage += ".2"
		} else {
			stage += ".1"
		}
		x = y.csp(n, stage, x, out, blocks*y.blocks(3), !last)
		if i > 0 {
			maps = append(maps, x)
		}
	}
	return maps
}

// focus turns squares of 2x2 pixels into channels: upper left, lower left, upper right, lower right.
func (n *net) focus(name string, x graph.Value) graph.Value {
	s := n.Type(x).Shape
	if len(s) != 3 {
		return x
	}
	var squares []graph.Value
	for i := range 4 {
		begin := []int{0, i % 2, i / 2}
		squares = append(squares, n.Op(graph.Slice, fmt.Sprintf("%s.%d", name, i), []graph.Value{x},
			"begin", begin, "end", s, "step", []int{1, 2, 2}))
	}
	return n.concat(name+".join", squares...)
}

// spatialPyramid joins maxima over windows of four sizes.
func (n *net) spatialPyramid(name string, x graph.Value, out int) graph.Value {
	x = n.pointwise(name+".conv1", x, n.channels(x)/2)
	maps := []graph.Value{x}
	for i, kernel := range []int{5, 9, 13} {
		maps = append(maps, n.maxPool(fmt.Sprintf("%s.m.%d", name, i), x, kernel, 1, kernel/2))
	}
	return n.pointwise(name+".conv2", n.concat(name+".join", maps...), out)
}

// fpn joins the feature maps of the backbone from coarse to fine and back (Liu et al.
// 2018).
func (y yolox) fpn(n *net, maps []graph.Value) []graph.Value {
	const prefix = "backbone."
	blocks, fine, middle, coarse := y.blocks(3), y.channels(256), y.channels(512), y.channels(1024)
	join := func(name string, a, b graph.Value, out int) graph.Value {
		return y.csp(n, prefix+name, n.concat(prefix+name+".in", a, b), out, blocks, false)
	}
	lateral := n.pointwise(prefix+"lateral_conv0", maps[2], middle)
	x := join("C3_p4", n.upsampled(prefix+"up0", lateral, maps[1]), maps[1], middle)
	reduced := n.pointwise(prefix+"reduce_conv1", x, fine)
	out2 := join("C3_p3", n.upsampled(prefix+"up1", reduced, maps[0]), maps[0], fine)
	out1 := join("C3_n3", y.conv(n, prefix+"bu_conv2", out2, fine, 2), reduced, middle)
	out0 := join("C3_n4", y.conv(n, prefix+"bu_conv1", out1, middle, 2), lateral, coarse)
	return []graph.Value{out2, out1, out0}
}

// upsampled repeats the elements of x to the size of a map.
func (n *net) upsampled(name string, x, like graph.Value) graph.Value {
	s := n.Type(like).Shape
	if len(s) != 3 {
		return x
	}
	return n.Op(graph.Upsample, name, []graph.Value{x}, "size", s[1:], "mode", "nearest")
}

// head predicts the rows of graph.YOLOXForm for the cells of each map.
func (y yolox) head(n *net, maps []graph.Value, classes int) graph.Value {
	width := y.channels(256)
	twice := func(name string, x graph.Value) graph.Value {
		for i := range 2 {
			x = y.conv(n, fmt.Sprintf("%s.%d", name, i), x, width, 1)
		}
		return x
	}
	var cells []graph.Value
	for k, x := range maps {
		at := func(name string) string { return fmt.Sprintf("head.%s.%d", name, k) }
		x = n.pointwise(at("stems"), x, width)
		ofClass, ofBox := twice(at("cls_convs"), x), twice(at("reg_convs"), x)
		class := n.prior(at("cls_preds"), ofClass, classes)
		box := n.byStyleBias(at("reg_preds"), ofBox, convSpec{out: 4, kernel: 1, stride: 1},
			n.pytorchBound(ofBox, convSpec{kernel: 1}))
		x = n.concat(at("join"), box, n.prior(at("obj_preds"), ofBox, 1), class)
		cells = append(cells, n.slots(at("cells"), x))
	}
	return n.Op(graph.Concat, "head.cells", cells, "axis", 1)
}

// priorLogit is the logit of a probability of 1 %, with which predictions of classes begin (Lin et al. 2017).
var priorLogit = -tensor.Log(99)

// prior adds a prediction of logits that begin at priorLogit.
func (n *net) prior(name string, x graph.Value, out int) graph.Value {
	c := convSpec{out: out, kernel: 1, stride: 1}
	w := n.styled(name, x, c)
	bias := n.declare(name+".bias", graph.Bias, "constant", []float64{priorLogit}, out)
	return n.convolve(name, c, x, w, bias)
}
