package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// inceptionV3 is the network of Szegedy et al. 2016 in torchvision's form. Its auxiliary head reads
// the last block of 17x17.
func inceptionV3(n *net, x graph.Value, classes int) graph.Value {
	n.style = style{weights: graph.Init{Rule: "normal", Args: []float64{0.1}}, norms: inceptionNorms}
	x = n.basicConv("Conv2d_1a_3x3", x, convSpec{out: 32, kernel: 3, stride: 2})
	x = n.basicConv("Conv2d_2a_3x3", x, convSpec{out: 32, kernel: 3})
	x = n.basicConv("Conv2d_2b_3x3", x, convSpec{out: 64, kernel: 3, pad: 1})
	x = n.maxPool("maxpool1", x, 3, 2, 0)
	x = n.basicConv("Conv2d_3b_1x1", x, convSpec{out: 80, kernel: 1})
	x = n.basicConv("Conv2d_4a_3x3", x, convSpec{out: 192, kernel: 3})
	x = n.maxPool("maxpool2", x, 3, 2, 0)
	for i, pooled := range []int{32, 64, 64} {
		x = n.inceptionA(fmt.Sprintf("Mixed_5%c", 'b'+i), x, pooled)
	}
	x = n.inceptionB("Mixed_6a", x)
	for i, width := range []int{128, 160, 160, 192} {
		x = n.inceptionC(fmt.Sprintf("Mixed_6%c", 'b'+i), x, width)
	}
	if n.heads != nil {
		y := n.Op(graph.AvgPool, "AuxLogits.pool", []graph.Value{x}, "kernel", []int{5, 5}, "stride", []int{3, 3})
		y = n.basicConv("AuxLogits.conv0", y, convSpec{out: 128, kernel: 1})
		y = n.basicConv("AuxLogits.conv1", y, convSpec{out: 768, kernel: 5})
		y = n.globalPool("AuxLogits.avgpool", y)
		n.heads[graph.Auxiliary] = n.headNormal("AuxLogits.fc", y, classes, 0.001)
	}
	x = n.inceptionD("Mixed_7a", x)
	x = n.inceptionE("Mixed_7c", n.inceptionE("Mixed_7b", x))
	x = n.Op(graph.Dropout, "dropout", []graph.Value{n.globalPool("avgpool", x)}, "p", 0.5)
	return n.headNormal("fc", x, classes, 0.1)
}

// branch is a chain of convolutions. Each has a suffix for the name of the block, and
// a shape.
type branch []struct {
	suffix string
	c      convSpec
}

// branches concatenates the results of the branches of x and of a pool. The pool is an
// average pool, followed by a convolution; pooled is its number of channels. If pooled is 0, it is a max
// pool that halves height and width.
func (n *net) branches(name string, x graph.Value, pooled int, list ...branch) graph.Value {
	var maps []graph.Value
	for _, b := range list {
		maps = append(maps, n.chain(name, x, b))
	}
	if pooled == 0 {
		return n.concat(name+".join", append(maps, n.maxPool(name+".pool", x, 3, 2, 0))...)
	}
	return n.concat(name+".join", append(maps, n.poolBranch(name, x, pooled))...)
}

// poolBranch is a mean of windows of 3x3, and a convolution.
func (n *net) poolBranch(name string, x graph.Value, out int) graph.Value {
	y := n.Op(graph.AvgPool, name+".pool", []graph.Value{x}, "kernel", []int{3, 3}, "pad", []int{1, 1, 1, 1},
		"count_pad", true)
	return n.basicConv(name+".branch_pool", y, convSpec{out: out, kernel: 1})
}

func (n *net) chain(name string, x graph.Value, b branch) graph.Value {
	for _, layer := range b {
		x = n.basicConv(name+"."+layer.suffix, x, layer.c)
	}
	return x
}

// horizontal and vertical are convolutions of 1xk and kx1 that keep height and width.
func horizontal(out, k int) convSpec {
	return convSpec{out: out, kernel: 1, kernelWide: k, padWide: k / 2}
}
func vertical(out, k int) convSpec { return convSpec{out: out, kernel: k, pad: k / 2, kernelWide: 1} }

func (n *net) inceptionA(name string, x graph.Value, pooled int) graph.Value {
	return n.branches(name, x, pooled, branch{{"branch1x1", convSpec{out: 64, kernel: 1}}},
		branch{{"branch5x5_1", convSpec{out: 48, kernel: 1}},
			{"branch5x5_2", convSpec{out: 64, kernel: 5, pad: 2}}},
		branch{{"branch3x3dbl_1", convSpec{out: 64, kernel: 1}},
			{"branch3x3dbl_2", convSpec{out: 96, kernel: 3, pad: 1}},
			{"branch3x3dbl_3", convSpec{out: 96, kernel: 3, pad: 1}}})
}

func (n *net) inceptionB(name string, x graph.Value) graph.Value {
	return n.branches(name, x, 0, branch{{"branch3x3", convSpec{out: 384, kernel: 3, stride: 2}}},
		branch{{"branch3x3dbl_1", convSpec{out: 64, kernel: 1}},
			{"branch3x3dbl_2", convSpec{out: 96, kernel: 3, pad: 1}},
			{"branch3x3dbl_3", convSpec{out: 96, kernel: 3, stride: 2}}})
}

func (n *net) inceptionC(name string, x graph.Value, width int) graph.Value {
	one := convSpec{out: width, kernel: 1}
	return n.branches(name, x, 192, branch{{"branch1x1", convSpec{out: 192, kernel: 1}}},
		branch{{"branch7x7_1", one}, {"branch7x7_2", horizontal(width, 7)}, {"branch7x7_3", vertical(192, 7)}},
		branch{{"branch7x7dbl_1", one}, {"branch7x7dbl_2", vertical(width, 7)},
			{"branch7x7dbl_3", horizontal(width, 7)}, {"branch7x7dbl_4", vertical(width, 7)},
			{"branch7x7dbl_5", horizontal(192, 7)}})
}

func (n *net) inceptionD(name string, x graph.Value) graph.Value {
	one := convSpec{out: 192, kernel: 1}
	return n.branches(name, x, 0,
		branch{{"branch3x3_1", one}, {"branch3x3_2", convSpec{out: 320, kernel: 3, stride: 2}}},
		branch{{"branch7x7x3_1", one}, {"branch7x7x3_2", horizontal(192, 7)}, {"branch7x7x3_3", vertical(192, 7)},
			{"branch7x7x3_4", convSpec{out: 192, kernel: 3, stride: 2}}})
}

// inceptionE splits its branches into convolutions of 1x3 and 3x1.
func (n *net) inceptionE(name string, x graph.Value) graph.Value {
	fork := func(suffix string, x graph.Value) graph.Value {
		a := n.basicConv(name+"."+suffix+"a", x, horizontal(384, 3))
		return n.concat(name+"."+suffix+".join", a, n.basicConv(name+"."+suffix+"b", x, vertical(384, 3)))
	}
	a := n.basicConv(name+".branch1x1", x, convSpec{out: 320, kernel: 1})
	b := fork("branch3x3_2", n.basicConv(name+".branch3x3_1", x, convSpec{out: 384, kernel: 1}))
	c := n.chain(name, x, branch{{"branch3x3dbl_1", convSpec{out: 448, kernel: 1}},
		{"branch3x3dbl_2", convSpec{out: 384, kernel: 3, pad: 1}}})
	c = fork("branch3x3dbl_3", c)
	return n.concat(name+".join", a, b, c, n.poolBranch(name, x, 192))
}
