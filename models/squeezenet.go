package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// fires are the modules of SqueezeNet 1.1 (Iandola et al. 2016) by layer: the
// squeezed channels, and half of the channels of the result. Layers in between are
// max pools.
var fires = map[int][2]int{3: {16, 64}, 4: {16, 64}, 6: {32, 128}, 7: {32, 128}, 9: {48, 192}, 10: {48, 192},
	11: {64, 256}, 12: {64, 256}}

// squeezeNet is SqueezeNet 1.1 (Iandola et al. 2016), which has no batch norm.
func squeezeNet(n *net, x graph.Value, classes int) graph.Value {
	n.weights = graph.Init{Rule: "he_uniform", Args: []float64{0}}
	x = n.byStyleBias("features.0", x, convSpec{out: 64, kernel: 3, stride: 2}, 0)
	x = n.relu("features.1", x)
	for layer := 2; layer <= 12; layer++ {
		name := fmt.Sprintf("features.%d", layer)
		if f, ok := fires[layer]; ok {
			x = n.fire(name, x, f[0], f[1])
		} else {
			x = n.maxPoolCeil(name, x, 3, 2)
		}
	}
	x = n.Op(graph.Dropout, "classifier.0", []graph.Value{x}, "p", 0.5)
	n.weights = graph.Init{Rule: "normal", Args: []float64{0.01}}
	x = n.byStyleBias("classifier.1", x, convSpec{out: classes, kernel: 1, stride: 1}, 0)
	return n.globalPool("classifier.3", n.relu("classifier.2", x))
}

// fire reduces the channels, and concatenates the results of convolutions of 1x1 and 3x3.
func (n *net) fire(name string, x graph.Value, squeezed, out int) graph.Value {
	layer := func(suffix string, x graph.Value, c convSpec) graph.Value {
		c.stride = 1
		return n.relu(name+"."+suffix+"_activation", n.byStyleBias(name+"."+suffix, x, c, 0))
	}
	x = layer("squeeze", x, convSpec{out: squeezed, kernel: 1})
	return n.concat(name+".join", layer("expand1x1", x, convSpec{out: out, kernel: 1}),
		layer("expand3x3", x, convSpec{out: out, kernel: 3, pad: 1}))
}
