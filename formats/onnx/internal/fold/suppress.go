package fold

import (
	"github.com/bnctl/bnctl/device/suppress"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/tensor"
)

// NonMaxSuppression returns the selected indices [N, 3]: see package suppress.
func NonMaxSuppression(c *node.Node) tensor.Tensor {
	boxes, scores := c.Required(0), c.Required(1)
	if c.Err == nil && (len(boxes.Shape) != 3 || len(scores.Shape) != 3 || boxes.Shape[2] != 4 ||
		boxes.Shape[0] != scores.Shape[0] || boxes.Shape[1] != scores.Shape[2] ||
		boxes.DType != tensor.F32 || scores.DType != tensor.F32) {
		c.Fail("of boxes %v and scores %v is not supported, only of f32 [B,N,4] and [B,C,N]", boxes, scores)
	}
	if c.Err != nil {
		return node.Nothing
	}
	in := suppress.ONNXInput{Boxes: boxes.F32(), Scores: scores.F32(), Batch: scores.Shape[0],
		Classes: scores.Shape[1], Count: scores.Shape[2], Center: c.Int("center_point_box", 0) != 0}
	if c.Has(2) {
		if l, ok := c.List("", 2); ok && len(l) == 1 {
			in.MostPerClass = l[0]
		} else {
			c.Fail("max_output_boxes_per_class is %v, want one integer", l)
		}
	}
	in.Overlap = float32(threshold(c, 3))
	if c.Has(4) {
		v := float32(threshold(c, 4))
		in.Score = &v
	}
	if c.Err != nil {
		return node.Nothing
	}
	selected := suppress.ONNX(in)
	out := c.NewConstant(tensor.I64, []int{len(selected), 3})
	for i, s := range selected {
		if c.Err == nil {
			copy(out.I64()[3*i:], s[:])
		}
	}
	return out
}

// threshold returns operand i as a number, or 0 if it is absent.
func threshold(c *node.Node, i int) float64 {
	if !c.Has(i) {
		return 0
	}
	t, at := c.Reals(i)
	if c.Err != nil || t.Count() != 1 {
		c.Fail("operand %d is %v, want one number", i, t)
		return 0
	}
	return at(0)
}
