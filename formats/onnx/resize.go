package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"Resize": {
			attributes: accept(4, "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "+
				"extrapolation_value keep_aspect_ratio_policy mode nearest_mode"),
			refused: "antialias of nearest; volumes; axes other than those behind the channels",
			make:    resizes, integers: move, bytes: nearestBytes,
			traits: needsBatch | hasSettings | preparesInput},
		"Upsample": {attributes: accept(2, "mode scales"),
			refused: "volumes; axes other than those behind the channels", make: resizes, integers: move,
			bytes: nearestBytes, traits: needsBatch | hasSettings},
	})
}

// resizes reads Upsample (operator sets 7 to 9) and Resize of an image, or of a line as an image of
// height 1. The image itself is returned if it keeps its size.
func resizes(c *call) []node.Value {
	s := c.SpatialShape(0)
	axes := readResamplings(c, s)
	if c.Err == nil && !slices.ContainsFunc(axes, func(r resampling) bool { return !r.isIdentity() }) {
		return same(c)
	}
	return []node.Value{node.Rows(resize(c, s, axes))}
}

// resize returns the image with resampled axes. If the graph's Upsample samples the same pixels, it
// computes that. Otherwise the result is a product with a matrix along each axis.
func resize(c *call, s []int, axes []resampling) graph.Value {
	for i := range axes {
		if err := axes[i].check(); err != nil {
			c.Fail("%w", err)
		}
	}
	if c.Err != nil {
		return graph.None
	}
	x := c.toImage(c.Dynamic(0), s)
	if len(axes) == 1 {
		axes = []resampling{axes[0].identity(), axes[0]}
	}
	if c.In[0].HoldsBytes() {
		for a := range axes {
			x = c.gatherAxis(x, a+1, axes[a].pixels(), ".pixels")
		}
		return c.fromImage(x, len(s)-1)
	}
	if mode, align, ok := asUpsample(axes); ok {
		return c.fromImage(c.node(graph.Upsample, "", []graph.Value{x}, "size", []int{axes[0].newLength,
			axes[1].newLength},
			"mode", mode, "align_corners", align), len(s)-1)
	}
	x = addResample(c, addResample(c, x, 1, &axes[0], ".height"), 2, &axes[1], ".width")
	x = addOutside(c, x, axes)
	return c.fromImage(x, len(s)-1)
}

// identity returns the resampling of an axis with one element, which remains unchanged.
func (r resampling) identity() resampling {
	r.length, r.newLength, r.scale, r.coordinates = 1, 1, 1, "asymmetric"
	return r
}

// readResamplings reads the resampling of the axes that follow the channels.
func readResamplings(c *call, s []int) []resampling {
	coordinates, rounding := "asymmetric", "simple" // the only modes up to operator set 10
	if c.Proto.OpType == "Resize" && c.Opset >= 11 {
		coordinates = c.Text("coordinate_transformation_mode", "half_pixel")
		rounding = c.Text("nearest_mode", "round_prefer_floor")
	}
	mode := c.Text("mode", "nearest")
	if mode == "bilinear" && c.Proto.OpType == "Upsample" {
		mode = "linear"
	}
	size, scales := readResized(c, s)
	out := make([]resampling, len(size))
	for a := range out {
		out[a] = resampling{length: s[a+1], newLength: size[a], scale: scales[a], mode: mode,
			coordinates: coordinates, rounding: rounding,
			cubic:    float32(c.Float("cubic_coeff_a", -0.75)),
			excludes: c.Int("exclude_outside", 0) != 0, antialias: c.Int("antialias", 0) != 0}
	}
	if coordinates == cropping {
		readRegions(c, out, len(s)+1)
	}
	return out
}

// readRegions reads the part of each axis that is resized. The file lists the beginnings of all parts
// and then their ends, as fractions of the axis.
func readRegions(c *call, axes []resampling, rank int) {
	at := readResizedAxes(c, rank)
	roi := readFloats(c, "roi", 1)
	if c.Err == nil && len(roi) != 2*len(at) {
		c.Fail("roi has %d numbers for %d axes", len(roi), len(at))
	}
	for i := range axes {
		axes[i].end = 1
	}
	for i, a := range at {
		switch {
		case c.Err != nil:
		case a > rank-len(axes)-1:
			axes[a-rank+len(axes)].begin, axes[a-rank+len(axes)].end = roi[i], roi[i+len(at)]
		case roi[i] != 0 || roi[i+len(at)] != 1:
			c.Fail("of a part of axis %d is not supported, only of the axes behind the channels", a)
		}
	}
}

// addOutside adds the node's extrapolation value to the pixels outside the regions.
func addOutside(c *call, x graph.Value, axes []resampling) graph.Value {
	value := float32(c.Float("extrapolation_value", 0))
	if c.Err != nil || value == 0 || axes[len(axes)-1].coordinates != cropping {
		return x
	}
	t := c.NewConstant(tensor.F32, []int{1, axes[0].newLength, axes[1].newLength})
	for i := range t.F32() {
		if !axes[0].isInside(i/axes[1].newLength) || !axes[1].isInside(i%axes[1].newLength) {
			t.F32()[i] = value
		}
	}
	if c.Err != nil {
		return graph.None
	}
	outside := c.declare(c.Proto.Output[0]+".outside", graph.Constant, t)
	return c.node(graph.Add, ".outside", []graph.Value{x, outside})
}

// readResized returns the requested lengths of the axes that follow the channels, and their scales.
func readResized(c *call, s []int) (size []int, scales []float32) {
	full := append([]int{1}, s...) // the length of the batch does not matter, because it stays the same
	at, byScales := readResizedAxes(c, len(full)), 1
	if c.Proto.OpType == "Resize" && c.Opset >= 11 {
		byScales = 2 // after roi
	}
	to, factor := slices.Clone(full), slices.Repeat([]float32{1}, len(full))
	if c.Has(3) {
		l, _ := c.List("sizes", 3)
		readSizes(c, full, at, l, to, factor)
	} else {
		f := readFloats(c, "scales", byScales)
		for i, a := range at {
			if len(f) == len(at) && f[i] > 0 {
				factor[a] = f[i]
				to[a] = int(min(math.Floor(float64(f[i]*float32(full[a]))), maxResized+1))
			} else {
				c.Fail("scales are %v for %d axes", f, len(at))
			}
		}
	}
	if c.Err == nil && (to[0] != 1 || to[1] != s[0] || factor[0] != 1 || factor[1] != 1 ||
		slices.Min(to) < 1 || slices.Max(to[2:]) > maxResized) {
		c.Fail("from %v to %v is not supported, only of the axes behind the channels, to at most %d", s, to[1:],
			maxResized)
	}
	if c.Err != nil {
		return slices.Repeat([]int{1}, len(s)-1), slices.Repeat([]float32{1}, len(s)-1)
	}
	return to[2:], factor[2:]
}

// maxResized is the maximum length of a resized axis.
const maxResized = 1 << 16

// readResizedAxes returns the axes that are resized, of a value with a rank. The batch is axis 0.
func readResizedAxes(c *call, rank int) []int {
	at := element.Indices(rank)
	if a := c.Attribute("axes"); a != nil {
		at = c.Ints("axes", len(a.Ints), 0)
		for i := range at {
			if at[i] < 0 {
				at[i] += rank
			}
			if at[i] < 0 || at[i] >= rank || slices.Contains(at[:i], at[i]) {
				c.Fail("axes are %v", a.Ints)
				return nil
			}
		}
	}
	return at
}

// readSizes sets the lengths and scales of axes from sizes. With a policy it keeps the proportions: the
// result is the largest that fits into the sizes, or the smallest that covers them.
func readSizes(c *call, full, axes []int, sizes []int64, lengths []int, factor []float32) {
	if len(sizes) != len(axes) {
		c.Fail("sizes %s for %d axes", element.Printed(sizes), len(axes))
		return
	}
	policy, common := c.Text("keep_aspect_ratio_policy", "stretch"), float32(0)
	for i, a := range axes {
		n := sizes[i]
		if a == 0 && n != element.AnyBatch && (c.Batch == 0 || n != c.Batch) {
			c.Fail("to sizes %s changes the length of the batch", element.Printed(sizes))
			return
		}
		if a == 0 {
			n = 1
		}
		if n < 1 || n > 1<<30 {
			c.Fail("sizes are %s", element.Printed(sizes))
			return
		}
		lengths[a] = int(n)
		factor[a] = float32(n) / float32(full[a])
		smaller := policy == "not_larger" && factor[a] < common
		if i == 0 || smaller || policy == "not_smaller" && factor[a] > common {
			common = factor[a]
		}
	}
	switch policy {
	case "stretch":
	case "not_larger", "not_smaller":
		for _, a := range axes {
			factor[a], lengths[a] = common, int(math.Round(float64(common*float32(full[a]))))
		}
	default:
		c.Fail("keep_aspect_ratio_policy is %.40q, which is not supported", policy)
	}
}

// readFloats returns an attribute, or operand i, of floats.
func readFloats(c *call, name string, i int) []float32 {
	if a := c.Attribute(name); a != nil {
		return a.Floats
	}
	t, ok := c.Constant(i)
	f, err := t.ToF32()
	if !ok || err != nil {
		c.Fail("%s are not given", name)
		return nil
	}
	return f.F32()
}

// asUpsample returns the mode of the graph's Upsample that samples the same pixels,
// except for rounding.
func asUpsample(axes []resampling) (mode string, align, ok bool) {
	if r := axes[0]; r.mode == "nearest" && axes[len(axes)-1].coordinates != cropping {
		return "nearest", false, !slices.ContainsFunc(axes, func(r resampling) bool {
			return slices.ContainsFunc(element.Indices(r.newLength),
				func(i int) bool { return r.pixel(i) != i*r.length/r.newLength })
		})
	} else if r.mode != "linear" || axes[len(axes)-1].coordinates == cropping {
		return "", false, false
	}
	for _, align := range []bool{false, true} {
		if !slices.ContainsFunc(axes, func(r resampling) bool { return !r.isBilinear(align) }) {
			return "bilinear", align, true
		}
	}
	return "", false, false
}

// isBilinear reports whether the graph's bilinear Upsample samples the same pixels.
func (r resampling) isBilinear(align bool) bool {
	if r.antialias && r.scale < 1 || r.antialias && r.excludes {
		return false
	}
	for i := range r.newLength {
		x := float64(2*i+1)*float64(r.length)/float64(2*r.newLength) - 0.5
		if align {
			x = float64(i) * float64(r.length-1) / float64(max(r.newLength-1, 1))
		}
		clamp := func(x float64) float64 { return min(max(x, 0), float64(r.length-1)) }
		if math.Abs(clamp(x)-clamp(float64(r.coordinate(i)))) > 1e-6*float64(r.length) {
			return false
		}
	}
	return true
}

// addResample multiplies an axis, 1 for height and 2 for width, by a matrix. It is a 1x1 convolution
// with this axis as the channels.
func addResample(c *call, x graph.Value, axis int, r *resampling, suffix string) graph.Value {
	stays := r.length == r.newLength && r.scale == 1 && r.coordinates != cropping
	if stays || c.Err != nil || !c.Reserve(tensor.F32, []int{r.newLength, r.length}) {
		return x
	}
	perm := []int{0, 1, 2}
	perm[0], perm[axis] = axis, 0
	m := c.declare(c.Proto.Output[0]+suffix, graph.Constant, tensor.Of(r.weights(), r.newLength, r.length, 1, 1))
	x = c.node(graph.Transpose, suffix+".in", []graph.Value{x}, "perm", perm)
	x = c.node(graph.Conv, suffix, []graph.Value{x, m, graph.None})
	return c.node(graph.Transpose, suffix+".out", []graph.Value{x}, "perm", perm)
}
