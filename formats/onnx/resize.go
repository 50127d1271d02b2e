package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// resize is Upsample (operator sets 7 to 9) and Resize. Of the many ways to
// place pixels those are supported that the graph's Upsample has: nearest as
// floor(i*H/H'), and linear with half-pixel centres or aligned corners.
func resize(c *call) graph.Value {
	s := c.space(0)
	if len(s) != 3 {
		c.fail("of a tensor of shape %v is not supported", s)
	}
	size := c.resized(s)
	if c.err != nil {
		return graph.None
	}
	mode, align := c.placement(s[1:], size)
	return c.node(graph.Upsample, "", []graph.Value{c.flow(0)}, "size", size, "mode", mode, "align_corners",
		align)
}

// resized returns the height and width that scales or sizes ask for.
func (c *call) resized(s []int) []int {
	scales, sizes := 1, 3 // operands; roi stands between since operator set 11
	if c.n.OpType == "Resize" && c.opset >= 11 {
		scales = 2
	}
	if c.attribute("axes") != nil || c.text("keep_aspect_ratio_policy", "stretch") != "stretch" {
		c.fail("with axes or a policy is not supported")
	}
	if c.has(sizes) {
		l, _ := c.list("sizes", sizes)
		if len(l) != 4 || l[1] != int64(s[0]) || min(l[2], l[3]) < 1 || max(l[2], l[3]) > 1<<20 {
			c.fail("of a tensor of shape %v to sizes %s", s, printed(l))
			return nil
		}
		return []int{int(l[2]), int(l[3])}
	}
	f := c.floats("scales", scales)
	if len(f) != 4 || f[0] != 1 || f[1] != 1 {
		c.fail("scales are %v, want 1 for the batch and the channels", f)
		return nil
	}
	size := make([]int, 2)
	for a := range size {
		v := math.Floor(float64(f[a+2] * float32(s[a+1])))
		if !(v >= 1 && v <= 1<<20) {
			c.fail("scales are %v for the shape %v", f, s)
			return nil
		}
		size[a] = int(v)
	}
	return size
}

// floats returns an attribute, or operand i, of floats.
func (c *call) floats(name string, i int) []float32 {
	if a := c.attribute(name); a != nil {
		return a.Floats
	}
	t, ok := c.constant(i)
	f, err := t.ToF32()
	if !ok || err != nil {
		c.fail("%s are not given", name)
		return nil
	}
	return f.F32()
}

// placement returns mode and align_corners of the graph's operation.
func (c *call) placement(from, to []int) (mode string, align bool) {
	def := "asymmetric"
	if c.n.OpType == "Resize" && c.opset >= 11 {
		def = "half_pixel"
	}
	mode, place := c.text("mode", "nearest"), c.text("coordinate_transformation_mode", def)
	whole := to[0]%from[0] == 0 && to[1]%from[1] == 0
	switch mode {
	case "nearest":
		round := "floor"
		if def == "half_pixel" {
			round = c.text("nearest_mode", "round_prefer_floor")
		}
		half := place == "half_pixel" || place == "pytorch_half_pixel"
		if place == "asymmetric" && round == "floor" || half && whole && round != "floor" && round != "ceil" {
			return "nearest", false
		}
	case "linear", "bilinear":
		switch {
		case place == "half_pixel", place == "pytorch_half_pixel" && slices.Min(to) > 1:
			return "bilinear", false
		case place == "align_corners":
			return "bilinear", true
		}
	}
	c.fail("mode %.40q with coordinates %.40q is not supported", mode, place)
	return "nearest", false
}
