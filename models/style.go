package models

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/graph"
)

// style is the common part of the layers of a family.
type style struct {
	weights graph.Init // draws weights of convolutions; without a rule they are uniform, PyTorch's default
	norms   []any      // attributes of batch norms, by pairs
}

// The ways to draw the weights of convolutions that several families share.
var (
	heOverIn  = graph.Init{Rule: "he_normal", Args: []float64{0}}
	heOverOut = graph.Init{Rule: "he_normal", Args: []float64{1}}
)

// byStyle adds a convolution without bias, with weights drawn in the network's style.
func (n *net) byStyle(name string, x graph.Value, c convSpec) graph.Value {
	return n.convolve(name, c, x, n.styled(name, x, c))
}

// byStyleBias is like byStyle but with a bias, uniform within a bound.
func (n *net) byStyleBias(name string, x graph.Value, c convSpec, bound float64) graph.Value {
	w := n.styled(name, x, c)
	return n.convolve(name, c, x, w, n.bias(name, c.out, bound))
}

func (n *net) styled(name string, x graph.Value, c convSpec) graph.Value {
	if n.weights.Rule == "" {
		return n.kernelBy(name, x, c, graph.Init{Rule: "uniform", Args: []float64{n.pytorchBound(x, c)}})
	}
	return n.kernelBy(name, x, c, n.weights)
}

// pytorchBound is PyTorch's bound of new weights and biases of a convolution: the root of
// one over the fan-in.
func (n *net) pytorchBound(x graph.Value, c convSpec) float64 {
	h, w := c.window()
	return 1 / math.Sqrt(float64(n.channels(x)/max(c.groups, 1)*h*w))
}

// unit is a convolution, a batch norm and, unless activation is 0, an activation: layers 0,
// 1 and 2 under name, as torchvision's Conv2dNormActivation.
func (n *net) unit(name string, x graph.Value, c convSpec, activation graph.Op) graph.Value {
	return n.sequence(name+".", 0, x, c, activation)
}

// sequence adds the layers of unit as layers first, first+1 and first+2 of a sequence.
func (n *net) sequence(prefix string, first int, x graph.Value, c convSpec, activation graph.Op) graph.Value {
	at := func(k int) string { return fmt.Sprintf("%s%d", prefix, first+k) }
	x = n.norm(at(1), n.byStyle(at(0), x, c))
	if activation == 0 {
		return x
	}
	return n.Op(activation, at(2), []graph.Value{x})
}

// excitation has the settings of a squeeze-and-excite (Hu et al. 2018): the number of
// squeezed channels, the activation after the first convolution, and the function that
// makes factors of the second.
type excitation struct {
	squeezed        int
	activation, act graph.Op
	bound           float64 // bound of the biases; below 0: PyTorch's default
}

// excite scales each channel of x by the result of a small network of the means of all
// channels.
func (n *net) excite(name string, x graph.Value, e excitation) graph.Value {
	y := n.Op(graph.GlobalAvgPool, name+".avgpool", []graph.Value{x})
	for i, out := range []int{e.squeezed, n.channels(x)} {
		c, bound := convSpec{out: out, kernel: 1, stride: 1}, e.bound
		if bound < 0 {
			bound = n.pytorchBound(y, c)
		}
		y = n.byStyleBias(fmt.Sprintf("%s.fc%d", name, i+1), y, c, bound)
		if i == 0 {
			y = n.Op(e.activation, name+".activation", []graph.Value{y})
		}
	}
	y = n.Op(e.act, name+".scale_activation", []graph.Value{y})
	return n.Op(graph.Mul, name+".scaled", []graph.Value{x, y})
}

// stochasticDepth drops a block's result for whole samples (Huang et al. 2016); it is the
// identity in prediction.
func (n *net) stochasticDepth(name string, x graph.Value, p float64) graph.Value {
	if p == 0 {
		return x
	}
	return n.Op(graph.Dropout, name, []graph.Value{x}, "p", p, "each", "sample")
}
