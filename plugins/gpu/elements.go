package gpu

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// elementOps compute element by element.
var elementOps = map[graph.Op]func(c *compiler){
	graph.Image: buildImage,
	graph.Relu:  buildUnary, graph.Relu6: buildUnary, graph.LeakyRelu: buildUnary, graph.Elu: buildUnary,
	graph.Sigmoid: buildUnary, graph.HardSigmoid: buildUnary, graph.Silu: buildUnary,
	graph.HardSwish: buildUnary,
	graph.Tanh:      buildUnary, graph.Softplus: buildUnary, graph.Clip: buildUnary, graph.Affine: buildUnary,
	graph.Erf: buildUnary, graph.Gelu: buildUnary, graph.GeluTanh: buildUnary, graph.Mish: buildUnary,
	graph.Exp: buildUnary, graph.Log: buildUnary, graph.Sqrt: buildUnary,
	graph.ActivationGrad: buildActivationGrad,
	graph.Prelu:          buildPrelu, graph.PreluGradInput: buildPrelu,
	graph.Add: buildBinary, graph.Sub: buildBinary, graph.Mul: buildBinary, graph.Div: buildBinary,
	graph.Max: buildBinary, graph.Min: buildBinary, graph.Pow: buildBinary, graph.Compare: buildBinary,
	graph.Where: buildWhere, graph.Round: buildUnary,
}

// numbers returns the two parameters of a function of one element.
func numbers(n *graph.Node, op graph.Op) (a, b float64) {
	switch op {
	case graph.Relu:
		return 0, math.Inf(1)
	case graph.Relu6:
		return 0, 6
	case graph.LeakyRelu, graph.Elu:
		return n.Float("alpha"), 0
	case graph.HardSigmoid:
		return n.Float("alpha"), n.Float("beta")
	case graph.HardSwish:
		return 1. / 6, 0.5
	case graph.Clip:
		return n.Float("min"), n.Float("max")
	case graph.Affine:
		if n.Float("add") == 0 {
			return n.Float("by"), math.Copysign(0, -1) // adding -0 changes no element
		}
		return n.Float("by"), n.Float("add")
	case graph.Gelu, graph.GeluTanh:
		if n.Op == op && n.Bool("halve_last") {
			return 1, 0.5
		}
		return 0.5, 1
	case graph.Round:
		return float64(slices.Index([]string{"even", "floor", "ceil"}, n.Text("mode"))), 0
	}
	return 0, 0
}

func buildUnary(c *compiler) {
	x, y := c.in(0), c.out(0)
	kernel := "unary32"
	if x.DType == tensor.F64 {
		kernel = "unary64"
	}
	a, b := numbers(c.node, c.node.Op)
	c.launch(kernel, y.Kind, y.count, x, y, y.count, int(c.node.Op), a, b)
}

func buildActivationGrad(c *compiler) {
	x, dy, dx := c.in(0), c.in(1), c.out(0)
	of, _ := graph.ActivationNamed(c.node.Text("of"))
	a, b := numbers(c.node, of)
	c.launch("activation_gradient", dx.Kind, dx.count, x, dy, dx, dx.count, int(of), a, b)
}

func buildPrelu(c *compiler) {
	x, slope, dy, y := c.in(0), c.in(1), c.in(2), c.out(0)
	if dy == nil {
		dy = x
	}
	c.launch("prelu", y.Kind, y.count, x, slope, dy, y, y.count, y.positions(), int(c.node.Op))
}

// comparisons is the number that the kernels use for the first element of graph.Comparisons.
const comparisons = 256

func buildBinary(c *compiler) {
	y, op := c.out(0), int(c.node.Op)
	kernel := "binary32"
	if y.DType == tensor.F64 {
		kernel = "binary64"
	}
	if c.node.Op == graph.Compare {
		op = comparisons + slices.Index(graph.Comparisons, c.node.Text("of"))
	}
	a, b := c.spread(0), c.spread(1)
	lists := merged(y.Shape, a.strides, b.strides)
	t, rank := c.table(lists...), len(lists[0])
	c.launch(kernel, y.Kind, y.count, a.from, b.from, y, c.exe.owner, t, y.count, rank, op,
		a.units, a.count, b.units, b.count)
}

func buildWhere(c *compiler) {
	y, kernel := c.out(0), "where32"
	if y.DType == tensor.F64 {
		kernel = "where64"
	}
	test, x, z := c.spread(0), c.spread(1), c.spread(2)
	lists := merged(y.Shape, test.strides, x.strides, z.strides)
	t, rank := c.table(lists...), len(lists[0])
	c.launch(kernel, y.Kind, y.count, test.from, x.from, z.from, y, c.exe.owner, t, y.count, rank,
		test.units, test.count, x.units, x.count, z.units, z.count)
}

// spread is an operand, with the strides that broadcast it to the shape of the result.
type spread struct {
	from         any
	units, count int
	strides      []int
}

// spread returns operand i, which broadcasts to the result, or 0 if it is absent.
func (c *compiler) spread(i int) spread {
	y := c.out(0)
	if x := c.in(i); x != nil {
		return spread{x, unitsOf(x, y.Kind), x.count, broadcast(x.Shape, y.Shape)}
	}
	return spread{c.doubles([]float64{0}), ofWhole, 1, make([]int, len(y.Shape))}
}

// buildImage lowers the conversion of an image: a table per channel has the result for each byte.
func buildImage(c *compiler) {
	x, y := c.in(0), c.out(0)
	mean, std := c.node.Floats("mean"), c.node.Floats("std")
	var lut []float32
	for ch := range y.channels() {
		m, s := 0.0, 1.0
		if len(mean) > 0 {
			m = mean[ch]
		}
		if len(std) > 0 {
			s = std[ch]
		}
		for b := range 256 {
			lut = append(lut, float32((float64(float64(b)*c.node.Float("scale"))-m)/s))
		}
	}
	bgr := 0
	if c.node.Bool("bgr") {
		bgr = 1
	}
	c.launch("image", graph.Rows, y.count, x, c.floats(lut), y, y.count, y.channels(), y.positions(), bgr)
}
