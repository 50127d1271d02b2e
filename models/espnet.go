package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// espNetC is ESPNet-C of Mehta et al. 2018, with the names of the published code. It has 2 modules at 1/4 of
// the image's size and 8 at 1/8. The resized image is joined to the maps, and the result is interpolated to
// the image's size.
func espNetC(n *net, image graph.Value, classes int) graph.Value {
	n.norms = []any{"eps", 1e-3}
	half := n.halved("sample1.pool.0", image)
	quarter := n.halved("sample2.pool.1", n.halved("sample2.pool.0", image))
	x := n.conv("level1.conv", image, convSpec{out: 16, kernel: 3, stride: 2, pad: 1}, 0)
	x = n.normPrelu("level1.bn", "level1.act", x)
	x = n.joinNormPrelu("b1", x, half)
	down := n.espDown("level2_0", x, 64)
	x = n.espModules("level2", down, 2)
	x = n.joinNormPrelu("b2", x, down, quarter)
	down = n.espDown("level3_0", x, 128)
	x = n.espModules("level3", down, 8)
	x = n.joinNormPrelu("b3", down, x)
	x = n.conv("classifier.conv", x, convSpec{out: classes, kernel: 1, stride: 1}, 0)
	return n.upsampleTo("scale", x, image)
}

// halved is an average pool with windows of 3x3 and a stride of 2; pixels beyond the border
// count as 0.
func (n *net) halved(name string, x graph.Value) graph.Value {
	return n.Op(graph.AvgPool, name, []graph.Value{x}, "kernel", []int{3, 3}, "stride", []int{2, 2},
		"pad", []int{1, 1, 1, 1}, "count_pad", true)
}

// normPrelu adds batch norm and prelu with initial slopes of 0.25.
func (n *net) normPrelu(norm, act string, x graph.Value) graph.Value {
	x = n.norm(norm, x)
	slope := n.declare(act+".weight", graph.Bias, "constant", []float64{0.25}, n.channels(x))
	return n.Op(graph.Prelu, act, []graph.Value{x, slope})
}

func (n *net) joinNormPrelu(name string, maps ...graph.Value) graph.Value {
	return n.normPrelu(name+".bn", name+".act", n.Op(graph.Concat, name+".join", maps, "axis", 0))
}

// espDown is an ESP module that halves height and width.
func (n *net) espDown(name string, x graph.Value, out int) graph.Value {
	y := n.conv(name+".c1.conv", x, convSpec{out: out / 5, kernel: 3, stride: 2, pad: 1}, 0)
	return n.normPrelu(name+".bn", name+".act", n.espPyramid(name, y, out))
}

// espModules adds ESP modules: a convolution to a fifth of the channels,
// a pyramid, and the sum with the input.
func (n *net) espModules(name string, x graph.Value, count int) graph.Value {
	for i := range count {
		module, out := fmt.Sprintf("%s.%d", name, i), n.channels(x)
		y := n.conv(module+".c1.conv", x, convSpec{out: out / 5, kernel: 1, stride: 1}, 0)
		y = n.add(module+".add", x, n.espPyramid(module, y, out))
		x = n.normPrelu(module+".bn.bn", module+".bn.act", y)
	}
	return x
}

// espPyramid is the spatial pyramid of dilated convolutions. From the third convolution on,
// the previous sum is added to each result, to fill the gaps of dilation. Then all results
// are joined.
func (n *net) espPyramid(name string, x graph.Value, out int) graph.Value {
	fifth := out / 5
	var joined []graph.Value
	for i, rate := range []int{1, 2, 4, 8, 16} {
		width := fifth
		if i == 0 {
			width = out - 4*fifth
		}
		y := n.conv(fmt.Sprintf("%s.d%d.conv", name, rate), x,
			convSpec{out: width, kernel: 3, stride: 1, pad: rate, dilation: rate}, 0)
		if i > 1 {
			y = n.add(fmt.Sprintf("%s.add%d", name, i), joined[i-1], y)
		}
		joined = append(joined, y)
	}
	return n.Op(graph.Concat, name+".join", joined, "axis", 0)
}
