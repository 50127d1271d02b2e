package models

import (
	"github.com/bnctl/bnctl/graph"
)

// These are layers of networks with channels on the last axis: transformers, and the blocks
// of ConvNeXt.

// lastNorm is a layer norm over the last axis.
func (n *net) lastNorm(name string, x graph.Value, eps float64) graph.Value {
	return n.layerNorm(name, x, len(n.Type(x).Shape)-1, eps)
}

// layerNorm normalises over one axis.
func (n *net) layerNorm(name string, x graph.Value, axis int, eps float64) graph.Value {
	s := n.Type(x).Shape
	if axis < 0 || axis >= len(s) {
		return x
	}
	c := s[axis]
	return n.Op(graph.LayerNorm, name, []graph.Value{x, n.declare(name+".weight", graph.Gamma, "ones", nil, c),
		n.declare(name+".bias", graph.Beta, "zeros", nil, c)}, "axes", []int{axis}, "eps", eps)
}

// positions is a dense layer at every position. i initialises its weight; its bias is
// normal with the given deviation, or zeros.
func (n *net) positions(name string, x graph.Value, out int, i graph.Init, deviation float64) graph.Value {
	return n.positionsNamed(name, name+".weight", name+".bias", x, out, i, deviation)
}

// positionsNamed is like positions but with explicit names of tensors.
func (n *net) positionsNamed(name, weight, bias string, x graph.Value, out int, i graph.Init,
	deviation float64) graph.Value {
	s := n.Type(x).Shape
	if len(s) == 0 {
		return x
	}
	w := n.declare(weight, graph.Weight, i.Rule, i.Args, out, s[len(s)-1])
	b := graph.Init{Rule: "zeros"}
	if deviation != 0 {
		b = graph.Init{Rule: "normal", Args: []float64{deviation}}
	}
	return n.Op(graph.Dense, name, []graph.Value{x, w, n.declare(bias, graph.Bias, b.Rule, b.Args, out)},
		"leading", len(s)-1)
}

func (n *net) transpose(name string, x graph.Value, perm ...int) graph.Value {
	return n.Op(graph.Transpose, name, []graph.Value{x}, "perm", perm)
}

func (n *net) reshape(name string, x graph.Value, shape ...int) graph.Value {
	return n.Op(graph.Reshape, name, []graph.Value{x}, "shape", shape)
}
