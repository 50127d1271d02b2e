package models

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/graph"
)

// unetBN is the U-Net of Ronneberger, Fischer, Brox 2015 with padded convolutions and batch
// norm, of a quarter of its width: 16 channels at the top, doubled on each of four levels
// down. The upward path enlarges maps by bilinear interpolation, so that the output has the
// size of the image, whatever it is.
func unetBN(n *net, x graph.Value, classes int) graph.Value {
	const levels, width = 4, 16
	x = n.convTwice("down0", x, width)
	skips := []graph.Value{x}
	for k := 1; k <= levels; k++ {
		x = n.maxPool(fmt.Sprintf("pool%d", k), x, 2, 2, 0)
		x = n.convTwice(fmt.Sprintf("down%d", k), x, width<<k)
		skips = append(skips, x)
	}
	for k := levels - 1; k >= 0; k-- {
		x = n.upsampleTo(fmt.Sprintf("scale%d", k), x, skips[k])
		x = n.Op(graph.Concat, fmt.Sprintf("join%d", k), []graph.Value{skips[k], x}, "axis", 0)
		x = n.convTwice(fmt.Sprintf("up%d", k), x, width<<k)
	}
	return n.pixelHead("head", x, classes)
}

// convTwice adds two convolutions of 3x3, each with batch norm and relu.
func (n *net) convTwice(name string, x graph.Value, width int) graph.Value {
	for _, i := range []string{"1", "2"} {
		x = n.conv(name+".conv"+i, x, convSpec{out: width, kernel: 3, stride: 1, pad: 1}, 0)
		x = n.relu(name+".relu"+i, n.norm(name+".bn"+i, x))
	}
	return x
}

// upsampleTo scales x to the height and width of like, by bilinear interpolation.
func (n *net) upsampleTo(name string, x, like graph.Value) graph.Value {
	size := []int{1, 1} // used after an error, which the builder keeps
	if s := n.Type(like).Shape; len(s) == 3 {
		size = s[1:]
	}
	return n.Op(graph.Upsample, name, []graph.Value{x}, "size", size, "mode", "bilinear")
}

// pixelHead adds the last layer of a network that gives each pixel a class: a convolution
// of 1x1 with PyTorch's default initialisation, like head.
func (n *net) pixelHead(name string, x graph.Value, classes int) graph.Value {
	c := convSpec{out: classes, kernel: 1, stride: 1}
	bound := []float64{1 / math.Sqrt(float64(n.channels(x)))}
	w := n.declare(name+".weight", graph.Weight, "uniform", bound, classes, n.channels(x), 1, 1)
	return n.convolve(name, c, x, w, n.declare(name+".bias", graph.Bias, "uniform", bound, classes))
}
