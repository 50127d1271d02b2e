package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// mlpBN is a perceptron with batch norm over features. Each sample gives a channel a single
// value, so that small batches have the largest effect.
func mlpBN(n *net, x graph.Value, classes int) graph.Value {
	x = n.flatten("flat", x)
	for i, width := range []int{256, 128} {
		k := i + 1
		x = n.denseOnly(fmt.Sprintf("fc%d", k), x, width)
		x = n.relu(fmt.Sprintf("relu%d", k), n.norm(fmt.Sprintf("bn%d", k), x))
	}
	return n.head("fc3", x, classes)
}

// lenetBN is LeNet-5's shape in today's widths, with batch norm after its two
// convolutions and nowhere else.
func lenetBN(n *net, x graph.Value, classes int) graph.Value {
	for i, width := range []int{32, 64} {
		k := i + 1
		x = n.conv(fmt.Sprintf("conv%d", k), x, convSpec{out: width, kernel: 5, stride: 1, pad: 2}, 0)
		x = n.relu(fmt.Sprintf("relu%d", k), n.norm(fmt.Sprintf("bn%d", k), x))
		x = n.maxPool(fmt.Sprintf("pool%d", k), x, 2, 2, 0)
	}
	x = n.flatten("flat", x)
	x = n.relu("relu3", n.head("fc1", x, 512))
	return n.head("fc2", x, classes)
}
