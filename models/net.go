package models

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// net builds a network from the layers that architectures are written in.
// State tensors have PyTorch's names: the layer's name and weight, bias,
// running_mean or running_var.
type net struct {
	*graph.Builder
	// heads collects the logits of heads that only training uses, by the name of their
	// output; nil: they are left out.
	heads map[string]graph.Value
	style
}

// convSpec is the shape of a convolution. kernel and pad are for both axes. If kernelWide
// is set, kernelWide and padWide are for the width instead. A 0 for groups or dilation
// means 1.
type convSpec struct {
	out, kernel, stride, pad, groups, dilation int
	kernelWide, padWide                        int
}

// window returns height and width of the kernel.
func (c convSpec) window() (height, width int) { return c.kernel, cmp.Or(c.kernelWide, c.kernel) }

// conv adds a convolution without bias, initialised with he_normal over fan
// in (0) or fan out (1).
func (n *net) conv(name string, x graph.Value, c convSpec, fan float64) graph.Value {
	return n.convolve(name, c, x, n.kernel(name, x, c, fan))
}

// convBias is like conv but with a bias of zeros.
func (n *net) convBias(name string, x graph.Value, c convSpec, fan float64) graph.Value {
	w := n.kernel(name, x, c, fan)
	return n.convolve(name, c, x, w, n.bias(name, c.out, 0))
}

func (n *net) kernel(name string, x graph.Value, c convSpec, fan float64) graph.Value {
	return n.kernelBy(name, x, c, graph.Init{Rule: "he_normal", Args: []float64{fan}})
}

func (n *net) kernelBy(name string, x graph.Value, c convSpec, i graph.Init) graph.Value {
	h, w := c.window()
	return n.declare(name+".weight", graph.Weight, i.Rule, i.Args, c.out, n.channels(x)/max(c.groups, 1), h, w)
}

// bias declares the bias of a layer, uniform within a bound, or zeros.
func (n *net) bias(name string, out int, bound float64) graph.Value {
	if bound == 0 {
		return n.declare(name+".bias", graph.Bias, "zeros", nil, out)
	}
	return n.declare(name+".bias", graph.Bias, "uniform", []float64{bound}, out)
}

func (n *net) convolve(name string, c convSpec, operands ...graph.Value) graph.Value {
	across := c.pad
	if c.kernelWide != 0 {
		across = c.padWide
	}
	attrs := []any{"groups", max(c.groups, 1), "stride", []int{c.stride, c.stride},
		"pad", []int{c.pad, across, c.pad, across}}
	if c.dilation > 1 {
		attrs = append(attrs, "dilation", []int{c.dilation, c.dilation})
	}
	return n.Op(graph.Conv, name, operands, attrs...)
}

// norm adds a batch norm with the attributes of the network's style.
func (n *net) norm(name string, x graph.Value) graph.Value {
	c := n.channels(x)
	return n.Op(graph.BatchNorm, name, []graph.Value{x,
		n.declare(name+".weight", graph.Gamma, "ones", nil, c),
		n.declare(name+".bias", graph.Beta, "zeros", nil, c),
		n.declare(name+".running_mean", graph.Mean, "zeros", nil, c),
		n.declare(name+".running_var", graph.Variance, "ones", nil, c)}, n.norms...)
}

// dense adds a matrix product with bias. rule initialises its weight.
func (n *net) dense(name string, x graph.Value, out int, rule string, arg, biasBound float64) graph.Value {
	args := []float64{arg}
	if rule == "zeros" {
		args = nil
	}
	w := n.declare(name+".weight", graph.Weight, rule, args, out, n.channels(x))
	b := n.declare(name+".bias", graph.Bias, "uniform", []float64{biasBound}, out)
	return n.Op(graph.Dense, name, []graph.Value{x, w, b})
}

// denseOnly adds a matrix product without bias, for a batch norm to follow.
func (n *net) denseOnly(name string, x graph.Value, out int) graph.Value {
	w := n.declare(name+".weight", graph.Weight, "he_normal", []float64{0}, out, n.channels(x))
	return n.Op(graph.Dense, name, []graph.Value{x, w})
}

// head adds the last layer of a network with PyTorch's default initialisation: weight and
// bias uniform within 1/sqrt(inputs).
func (n *net) head(name string, x graph.Value, out int) graph.Value {
	bound := 1 / math.Sqrt(float64(n.channels(x)))
	return n.dense(name, x, out, "uniform", bound, bound)
}

// fanOut returns the fan-out for initialising heads by their number of outputs: at least
// ImageNet's, for which these rules are made. With ten outputs they would make weights so
// large that the first losses are 5 to 14.
func fanOut(classes int) float64 { return max(float64(classes), 1000) }

// headNormal is like head but with a normal weight.
func (n *net) headNormal(name string, x graph.Value, out int, deviation float64) graph.Value {
	return n.dense(name, x, out, "normal", deviation, 1/math.Sqrt(float64(n.channels(x))))
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

// maxPoolCeil is maxPool with PyTorch's ceil_mode: a last window may reach beyond the map.
// A padding of one less than the stride at the end adds that window exactly when needed.
func (n *net) maxPoolCeil(name string, x graph.Value, kernel, stride int) graph.Value {
	return n.Op(graph.MaxPool, name, []graph.Value{x}, "kernel", []int{kernel, kernel},
		"stride", []int{stride, stride}, "pad", []int{0, 0, stride - 1, stride - 1})
}

// averaged is PyTorch's adaptive average pool to side x side, for sizes that give all
// windows the same size.
func (n *net) averaged(name string, x graph.Value, side int) graph.Value {
	s := n.Type(x).Shape
	if len(s) != 3 {
		return x
	}
	for axis := 1; axis < 3; axis++ {
		starts, window := make([]int, side), 0
		for i := range starts {
			starts[i] = i * s[axis] / side
			length := ((i+1)*s[axis]+side-1)/side - starts[i]
			if i > 0 && length != window {
				n.Fail(fmt.Errorf("%s would average windows of sides %d and %d", name, window, length))
				return graph.None
			}
			window = length
		}
		kernel := []int{1, 1}
		kernel[axis-1] = window
		along := fmt.Sprintf("%s.%d", name, axis)
		x = n.Op(graph.AvgPool, along+".mean", []graph.Value{x}, "kernel", kernel)
		x = n.Op(graph.Take, along, []graph.Value{x}, "axis", axis, "index", starts)
	}
	return x
}

func (n *net) relu(name string, x graph.Value) graph.Value {
	return n.Op(graph.Relu, name, []graph.Value{x})
}

func (n *net) add(name string, a, b graph.Value) graph.Value {
	return n.Op(graph.Add, name, []graph.Value{a, b})
}

// concat joins the channels of maps.
func (n *net) concat(name string, maps ...graph.Value) graph.Value {
	return n.Op(graph.Concat, name, maps, "axis", 0)
}

func (n *net) flatten(name string, x graph.Value) graph.Value {
	return n.Op(graph.Reshape, name, []graph.Value{x}, "shape", []int{tensor.Count(n.Type(x).Shape)})
}

// channels returns the length of x's first axis. After an error, when the
// builder adds nothing any more, it is 1.
func (n *net) channels(x graph.Value) int {
	if s := n.Type(x).Shape; len(s) > 0 {
		return s[0]
	}
	return 1
}

// atFirst returns stride for the first block of a stage, else 1.
func atFirst(k, stride int) int {
	if k == 0 {
		return stride
	}
	return 1
}
