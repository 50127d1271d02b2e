package models

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// net builds a network from the layers that architectures are written in.
// State tensors have PyTorch's names: the layer's name and weight, bias,
// running_mean or running_var.
type net struct {
	*graph.Builder
	// auxiliary takes the logits of a head that only training has a use for; nil: the
	// network has none.
	auxiliary *graph.Value
}

// convSpec is the shape of a square convolution. The zeros of groups and dilation
// mean 1.
type convSpec struct{ out, kernel, stride, pad, groups, dilation int }

// conv adds a convolution without bias, initialised with he_normal over fan
// in (0) or fan out (1).
func (n *net) conv(name string, x graph.Value, c convSpec, fan float64) graph.Value {
	return n.convolve(name, c, x, n.kernel(name, x, c, fan))
}

// convBias is conv with a bias of zeros.
func (n *net) convBias(name string, x graph.Value, c convSpec, fan float64) graph.Value {
	w := n.kernel(name, x, c, fan)
	return n.convolve(name, c, x, w, n.declare(name+".bias", graph.Bias, "zeros", nil, c.out))
}

func (n *net) kernel(name string, x graph.Value, c convSpec, fan float64) graph.Value {
	perGroup := n.channels(x) / max(c.groups, 1)
	return n.declare(name+".weight", graph.Weight, "he_normal", []float64{fan},
		c.out, perGroup, c.kernel, c.kernel)
}

func (n *net) convolve(name string, c convSpec, operands ...graph.Value) graph.Value {
	attrs := []any{"groups", max(c.groups, 1), "stride", []int{c.stride, c.stride},
		"pad", []int{c.pad, c.pad, c.pad, c.pad}}
	if c.dilation > 1 {
		attrs = append(attrs, "dilation", []int{c.dilation, c.dilation})
	}
	return n.Op(graph.Conv, name, operands, attrs...)
}

// norm adds a batch norm, with attributes by pairs.
func (n *net) norm(name string, x graph.Value, pairs ...any) graph.Value {
	c := n.channels(x)
	return n.Op(graph.BatchNorm, name, []graph.Value{x,
		n.declare(name+".weight", graph.Gamma, "ones", nil, c),
		n.declare(name+".bias", graph.Beta, "zeros", nil, c),
		n.declare(name+".running_mean", graph.Mean, "zeros", nil, c),
		n.declare(name+".running_var", graph.Variance, "ones", nil, c)}, pairs...)
}

// dense adds a matrix product with bias whose weight is initialised by rule.
func (n *net) dense(name string, x graph.Value, out int, rule string, arg, biasBound float64) graph.Value {
	w := n.declare(name+".weight", graph.Weight, rule, []float64{arg}, out, n.channels(x))
	b := n.declare(name+".bias", graph.Bias, "uniform", []float64{biasBound}, out)
	return n.Op(graph.Dense, name, []graph.Value{x, w, b})
}

// denseOnly adds a matrix product without bias, for a batch norm to follow.
func (n *net) denseOnly(name string, x graph.Value, out int) graph.Value {
	w := n.declare(name+".weight", graph.Weight, "he_normal", []float64{0}, out, n.channels(x))
	return n.Op(graph.Dense, name, []graph.Value{x, w})
}

// head adds the last layer of a network in PyTorch's own initialisation:
// weight and bias uniform within 1/sqrt(inputs).
func (n *net) head(name string, x graph.Value, out int) graph.Value {
	bound := 1 / math.Sqrt(float64(n.channels(x)))
	return n.dense(name, x, out, "uniform", bound, bound)
}

func (n *net) declare(name string, r graph.Role, rule string, args []float64, shape ...int) graph.Value {
	return n.Declare(graph.State{Name: name, DType: tensor.F32, Shape: shape, Role: r,
		Init: graph.Init{Rule: rule, Args: args}})
}

func (n *net) globalPool(name string, x graph.Value) graph.Value {
	return n.flatten(name+".flat", n.Op(graph.GlobalAvgPool, name, []graph.Value{x}))
}

func (n *net) maxPool(name string, x graph.Value, kernel, stride, pad int) graph.Value {
	return n.Op(graph.MaxPool, name, []graph.Value{x}, "kernel", []int{kernel, kernel},
		"stride", []int{stride, stride}, "pad", []int{pad, pad, pad, pad})
}

func (n *net) relu(name string, x graph.Value) graph.Value {
	return n.Op(graph.Relu, name, []graph.Value{x})
}

func (n *net) add(name string, a, b graph.Value) graph.Value {
	return n.Op(graph.Add, name, []graph.Value{a, b})
}

func (n *net) flatten(name string, x graph.Value) graph.Value {
	return n.Op(graph.Reshape, name, []graph.Value{x}, "shape", []int{tensor.Count(n.Type(x).Shape)})
}

// channels returns the length of x's first axis; 1 once an error has stuck,
// after which nothing is built any more.
func (n *net) channels(x graph.Value) int {
	if s := n.Type(x).Shape; len(s) > 0 {
		return s[0]
	}
	return 1
}
