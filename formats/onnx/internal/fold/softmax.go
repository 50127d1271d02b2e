package fold

import (
	"math"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/tensor"
)

// Softmax returns the exponentials along an axis, divided by their sum. Up to operator set 12 all axes
// from the given one on count as one.
var Softmax = One(func(c *node.Node) tensor.Tensor {
	return softmax(c, func(x, sum float64) float64 { return tensor.Exp(x) / sum })
})

// LogSoftmax returns the logarithms of Softmax.
var LogSoftmax = One(func(c *node.Node) tensor.Tensor {
	return softmax(c, func(x, sum float64) float64 { return x - tensor.Log(sum) })
})

// softmax applies the function value to each element. Its argument x is the element's difference from the
// largest element, and sum is the sum of the exponentials of these differences.
func softmax(c *node.Node, value func(x, sum float64) float64) tensor.Tensor {
	t, axis := c.Required(0), 1
	if c.Opset >= 13 {
		axis = -1
	}
	axis = c.FoldAxis(int64(c.Int("axis", axis)), len(t.Shape))
	out := c.NewConstant(t.DType, t.Shape)
	if c.Err != nil {
		return node.Nothing
	}
	shape := t.Shape
	if c.Opset < 13 {
		shape = []int{tensor.Count(shape[:axis]), tensor.Count(shape[axis:])}
		axis = 1
	}
	at, err := element.Reals(t)
	if err != nil {
		c.Fail("of constants of %v is not supported", t.DType)
		return node.Nothing
	}
	eachLine(shape, axis, func(first, n, step int) {
		top, sum := math.Inf(-1), 0.0
		for i := range n {
			top = max(top, at(first+i*step))
		}
		for i := range n {
			sum += tensor.Exp(at(first+i*step) - top)
		}
		for i := range n {
			element.SetReal(out, first+i*step, value(at(first+i*step)-top, sum))
		}
	})
	return out
}
