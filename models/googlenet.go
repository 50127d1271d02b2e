package models

import (
	"github.com/bnctl/bnctl/graph"
)

// inceptionNorms are the attributes of the batch norms of GoogLeNet and Inception.
var inceptionNorms = []any{"eps", 1e-3}

// basicConv is a convolution, a batch norm and relu, as in GoogLeNet and Inception.
func (n *net) basicConv(name string, x graph.Value, c convSpec) graph.Value {
	c.stride = max(c.stride, 1)
	return n.relu(name+".relu", n.norm(name+".bn", n.byStyle(name+".conv", x, c)))
}

// googLeNetBlocks is table 1 of Szegedy et al. 2015. channels are the output channels of the 1x1
// branch, of the two convolutions of the 3x3 branch, of the two convolutions of the 5x5 branch, for
// which torchvision has a 3x3, and of the branch after the max pool.
var googLeNetBlocks = []struct {
	name     string
	channels [6]int
}{
	{"inception3a", [6]int{64, 96, 128, 16, 32, 32}}, {"inception3b", [6]int{128, 128, 192, 32, 96, 64}},
	{"maxpool3", [6]int{}},
	{"inception4a", [6]int{192, 96, 208, 16, 48, 64}}, {"inception4b", [6]int{160, 112, 224, 24, 64, 64}},
	{"inception4c", [6]int{128, 128, 256, 24, 64, 64}}, {"inception4d", [6]int{112, 144, 288, 32, 64, 64}},
	{"inception4e", [6]int{256, 160, 320, 32, 128, 128}},
	{"maxpool4", [6]int{}},
	{"inception5a", [6]int{256, 160, 320, 32, 128, 128}}, {"inception5b", [6]int{384, 192, 384, 48, 128, 128}},
}

// googLeNet has two auxiliary heads, which read blocks 4a and 4d.
func googLeNet(n *net, x graph.Value, classes int) graph.Value {
	n.style = style{weights: graph.Init{Rule: "normal", Args: []float64{0.01}}, norms: inceptionNorms}
	x = n.basicConv("conv1", x, convSpec{out: 64, kernel: 7, stride: 2, pad: 3})
	x = n.maxPoolCeil("maxpool1", x, 3, 2)
	x = n.basicConv("conv2", x, convSpec{out: 64, kernel: 1})
	x = n.basicConv("conv3", x, convSpec{out: 192, kernel: 3, pad: 1})
	x = n.maxPoolCeil("maxpool2", x, 3, 2)
	maps := map[string]graph.Value{}
	for _, b := range googLeNetBlocks {
		switch b.name {
		case "maxpool3":
			x = n.maxPoolCeil(b.name, x, 3, 2)
		case "maxpool4":
			x = n.maxPoolCeil(b.name, x, 2, 2)
		default:
			x = n.googLeNetBlock(b.name, x, b.channels)
		}
		maps[b.name] = x
	}
	if n.heads != nil {
		n.heads[graph.Auxiliary] = n.googLeNetHead("aux1", maps["inception4a"], classes)
		n.heads[graph.Auxiliary+"2"] = n.googLeNetHead("aux2", maps["inception4d"], classes)
	}
	x = n.Op(graph.Dropout, "dropout", []graph.Value{n.globalPool("avgpool", x)}, "p", 0.2)
	return n.headNormal("fc", x, classes, 0.01)
}

func (n *net) googLeNetBlock(name string, x graph.Value, c [6]int) graph.Value {
	three := convSpec{kernel: 3, pad: 1}
	a := n.basicConv(name+".branch1", x, convSpec{out: c[0], kernel: 1})
	b := n.basicConv(name+".branch2.0", x, convSpec{out: c[1], kernel: 1})
	three.out = c[2]
	b = n.basicConv(name+".branch2.1", b, three)
	d := n.basicConv(name+".branch3.0", x, convSpec{out: c[3], kernel: 1})
	three.out = c[4]
	d = n.basicConv(name+".branch3.1", d, three)
	e := n.maxPool(name+".branch4.0", x, 3, 1, 1)
	return n.concat(name+".join", a, b, d, n.basicConv(name+".branch4.1", e, convSpec{out: c[5], kernel: 1}))
}

func (n *net) googLeNetHead(name string, x graph.Value, classes int) graph.Value {
	x = n.basicConv(name+".conv", n.averaged(name+".pool", x, 4), convSpec{out: 128, kernel: 1})
	x = n.relu(name+".relu", n.headNormal(name+".fc1", n.flatten(name+".flat", x), 1024, 0.01))
	x = n.Op(graph.Dropout, name+".dropout", []graph.Value{x}, "p", 0.7)
	return n.headNormal(name+".fc2", x, classes, 0.01)
}
