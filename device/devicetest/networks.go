package devicetest

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// small returns a network of a convolution, batch norm, relu, a pool and a dense layer, trained by SGD.
// It uses no operation that lenet-bn does not need.
func small(loss string) network {
	return network{
		name: "small, batch norm over " + loss, mode: loss, input: []int{6, 6, 1}, classes: 4,
		parameters: []graph.State{
			kernel("conv.weight", 5, 1, 3, 3), scale("bn.gamma", 5), shift("bn.beta", 5),
			kernel("fc.weight", 4, 45), shift("fc.bias", 4),
		},
		rule: momentumRule,
		body: func(b *netBuilder, x graph.Value) graph.Value {
			x = b.norm("bn", b.do(graph.Conv, "conv", values{x, b.param("conv.weight")}, "pad", []int{1, 1, 1, 1}))
			x = b.do(graph.Relu, "relu", values{x})
			x = b.do(graph.MaxPool, "pool", values{x}, "kernel", []int{2, 2}, "stride", []int{2, 2})
			x = b.do(graph.Reshape, "flat", values{x}, "shape", []int{45})
			return b.do(graph.Dense, "fc", values{x, b.param("fc.weight"), b.param("fc.bias")})
		},
	}
}

// residual returns a residual block that halves the image and doubles the
// channels, trained by AdamW with an average of the weights.
func residual(loss string, minimum int) network {
	return network{
		name: "residual, batch norm over " + loss, mode: loss, minimum: minimum, input: []int{8, 8, 3}, classes: 5,
		parameters: []graph.State{
			kernel("conv1.weight", 16, 3, 3, 3), scale("bn1.gamma", 16), shift("bn1.beta", 16),
			kernel("conv2.weight", 32, 16, 3, 3), scale("bn2.gamma", 32), shift("bn2.beta", 32),
			kernel("conv3.weight", 32, 1, 3, 3), scale("bn3.gamma", 32), shift("bn3.beta", 32),
			kernel("fc.weight", 5, 32), shift("fc.bias", 5),
		},
		rule: adamRule,
		body: residualBody,
	}
}

func residualBody(b *netBuilder, x graph.Value) graph.Value {
	same, half := []any{"pad", []int{1, 1, 1, 1}}, []any{"pad", []int{1, 1, 1, 1}, "stride", []int{2, 2}}
	x = b.do(graph.Conv, "conv1", values{x, b.param("conv1.weight")}, same...)
	x = b.do(graph.Relu, "relu1", values{b.norm("bn1", x)})
	y := b.do(graph.Conv, "conv2", values{x, b.param("conv2.weight")}, half...)
	y = b.do(graph.Relu6, "relu2", values{b.norm("bn2", y)})
	y = b.do(graph.Conv, "conv3", values{y, b.param("conv3.weight")}, append(same, "groups", 32)...)
	x = b.do(graph.Slice, "half", values{x}, "begin", []int{0, 0, 0}, "end", []int{16, 8, 8}, "step",
		[]int{1, 2, 2})
	x = b.do(graph.Pad, "wide", values{x}, "before", []int{8, 0, 0}, "after", []int{8, 0, 0})
	x = b.do(graph.Relu, "relu3", values{b.do(graph.Add, "add", values{b.norm("bn3", y), x})})
	x = b.do(graph.GlobalAvgPool, "mean", values{x})
	x = b.do(graph.Reshape, "flat", values{x}, "shape", []int{32})
	return b.do(graph.Dense, "fc", values{x, b.param("fc.weight"), b.param("fc.bias")})
}

func kernel(name string, shape ...int) graph.State {
	return graph.State{Name: name, DType: tensor.F32, Shape: shape, Role: graph.Weight}
}

func scale(name string, n int) graph.State {
	return graph.State{Name: name, DType: tensor.F32, Shape: []int{n}, Role: graph.Gamma}
}

func shift(name string, n int) graph.State {
	return graph.State{Name: name, DType: tensor.F32, Shape: []int{n}, Role: graph.Beta}
}
