package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// convNeXt returns a network of Liu et al. 2022. The first of its stages has 96 channels,
// and each other stage doubles the channels. Stochastic depth drops blocks with a
// probability that grows to a tenth at the last block. The network has layer norms over the
// channels at every position, and no batch norm.
func convNeXt(depths ...int) forward {
	return func(n *net, x graph.Value, classes int) graph.Value {
		n.weights = graph.Init{Rule: "normal", Args: []float64{0.02}}
		x = n.byStyleBias("features.0.0", x, convSpec{out: 96, kernel: 4, stride: 4}, 0)
		x = n.channelNorm("features.0.1", x)
		count, before := 0, 0
		for _, depth := range depths {
			count += depth
		}
		for i, depth := range depths {
			for k := range depth {
				p := 0.1 * float64(before) / float64(count-1)
				x = n.convNeXtBlock(fmt.Sprintf("features.%d.%d", 2*i+1, k), x, p)
				before++
			}
			if i+1 < len(depths) {
				name := fmt.Sprintf("features.%d.", 2*i+2)
				x = n.byStyleBias(name+"1", n.channelNorm(name+"0", x),
					convSpec{out: 2 * n.channels(x), kernel: 2, stride: 2}, 0)
			}
		}
		x = n.channelNorm("classifier.0", n.Op(graph.GlobalAvgPool, "avgpool", []graph.Value{x}))
		return n.dense("classifier.2", n.flatten("classifier.1", x), classes, "normal", 0.02, 0)
	}
}

// convNeXtBlock is a depthwise convolution, and two dense layers at every position.
func (n *net) convNeXtBlock(name string, x graph.Value, p float64) graph.Value {
	width := n.channels(x)
	y := n.byStyleBias(name+".block.0", x, convSpec{out: width, kernel: 7, stride: 1, pad: 3, groups: width}, 0)
	y = n.lastNorm(name+".block.2", n.transpose(name+".block.1", y, 1, 2, 0), 1e-6)
	y = n.positions(name+".block.3", y, 4*width, n.weights, 0)
	y = n.Op(graph.Gelu, name+".block.4", []graph.Value{y})
	y = n.positions(name+".block.5", y, width, n.weights, 0)
	y = n.transpose(name+".block.6", y, 2, 0, 1)
	scale := n.declare(name+".layer_scale", graph.Gamma, "constant", []float64{1e-6}, width, 1, 1)
	y = n.Op(graph.Mul, name+".scaled", []graph.Value{y, scale})
	return n.add(name+".add", n.stochasticDepth(name+".stochastic_depth", y, p), x)
}

// channelNorm is a layer norm over the channels of each position.
func (n *net) channelNorm(name string, x graph.Value) graph.Value {
	return n.layerNorm(name, x, 0, 1e-6)
}
