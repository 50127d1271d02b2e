package onnx

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// A file may take integers and make floats of them itself. They are f32 here, as arrays
// of integers become f32 where that is exact. Up to the cast nodes may only move
// them: arithmetic of integers wraps around, and rounds towards zero.

// A bias of integers may be added to sums of products, which are f32 like it.

// moving are the operators that compute nothing: each element of a result is one of the operand.
var moving = []string{"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Split",
	"Concat", "MaxPool", "Gather", "GatherElements", "GatherND", "Tile", "Expand", "DepthToSpace",
	"SpaceToDepth", "Pad", "Resize", "Upsample", "Compress", "CenterCropPad", "ReduceMax", "ReduceMin"}

// movingNumbers are those of them that have no form for bytes of the graph.
var movingNumbers = []string{"Compress", "CenterCropPad", "ReduceMax", "ReduceMin"}

// comparing are the operators that tell integers apart.
var comparing = []string{"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "OneHot"}

// make adds the nodes of an operator, of integers only where it moves, compares or casts them.
func (c *call) make(op string) []value {
	integer := slices.ContainsFunc(c.in, func(x value) bool { return x.integer })
	casts := op == "Cast" || op == "CastLike" || op == "DequantizeLinear"
	compares := slices.Contains(comparing, op)
	isSum := func(x value) bool { return x.integer && x.kind == tensor.I32 }
	sums := op == "Add" && slices.ContainsFunc(c.in, isSum)
	if integer {
		if out := c.wholes(op); out != nil {
			out[0].kind = cmp.Or(c.in[0].kind, c.in[1].kind)
			return out
		}
	}
	if op == "Where" {
		return c.chosen()
	}
	if integer && !casts && !compares && !sums && !c.moves(op) {
		c.failOfIntegers()
		return nil
	}
	of := c.typeOfMoved(op)
	out := makers[op](c)
	for i := range out {
		out[i].truth = out[i].truth || of == tensor.Bool
		if !integer && !casts {
			out[i].within = cmp.Or(out[i].within, c.extentOfFloats(op))
		}
		if integer && !casts && !out[i].bytes {
			if out[i].integer = out[i].integer || !compares; out[i].integer {
				out[i].kind, out[i].bytes = cmp.Or(c.in[0].kind, of), c.in[0].bytes
				out[i].within = cmp.Or(out[i].within, c.movedExtent(op))
				if sums {
					out[i].kind = tensor.I32
				}
			}
		}
	}
	return out
}

// typeOfMoved returns the type in the file of what a node only moves; 0 of others, and of floats.
func (c *call) typeOfMoved(op string) tensor.DType {
	if !c.moves(op) || element.IsFloat(c.in[0].dtype()) {
		return 0
	}
	return c.in[0].dtype()
}

// moves reports whether a node moves its operands, and computes nothing.
func (c *call) moves(op string) bool {
	if c.in[0].bytes && slices.Contains(movingNumbers, op) {
		return false
	}
	resizes := op == "Resize" || op == "Upsample"
	return slices.Contains(moving, op) && !(resizes && c.text("mode", "nearest") != "nearest")
}

// failOfIntegers refuses a node of integers. Bytes with scales can be had as floats: by the other form in
// which files are quantised.
func (c *call) failOfIntegers() {
	const what = "of integers that come from the input is not supported, "
	if shift[c.in[0].kind] > 0 || c.in[0].kind == tensor.U8 {
		c.fail(what + "only their moves, nearest pixels among them, comparisons and casts; quantise the file in " +
			"QDQ form (quant_format=QDQ), in which this node is one of floats")
		return
	}
	c.fail(what + "only their moves, comparisons and casts " +
		"to floats, and of places that ArgMax or TopK make sums, products, and quotients and remainders by one " +
		"positive constant, below 2^24; compute with floats in the file, or end it before this node")
}

// ofPixels returns m, which takes the pixels of images as f32, with images as its input.
// What is no image of 1 or 3 channels, or could be one in two ways, stays as it is.
func ofPixels(m *models.Model) *models.Model {
	s := m.Input().Shape
	channels := func(n int) bool { return n == 1 || n == 3 }
	if len(s) != 3 || channels(s[0]) && channels(s[2]) {
		return m
	}
	if with, err := models.WithImage(m, models.Image{Scale: 1}); err == nil {
		return with
	}
	return m
}
