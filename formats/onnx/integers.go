package onnx

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// A file may have an input of integers and convert them to floats. The input is f32 in the graph:
// arrays of integers are converted to f32, which must be exact. Before the file converts them, nodes
// may only move the integers, because integer arithmetic wraps around and rounds towards zero.

// A bias of integers may be added to sums of products. Both are f32 in the graph.

// make adds the nodes of an operator. Operands of integers are accepted only by operators that
// move, compare or cast them.
func (c *call) make(op string) []node.Value {
	if embeds(c, op) {
		return embed(c)
	}
	integer := slices.ContainsFunc(c.In, func(x node.Value) bool { return x.HoldsIntegers() })
	casts := op == "Cast" || op == "CastLike" || op == "DequantizeLinear"
	compares := table[op].integers.has(tellApart)
	isSum := func(x node.Value) bool { return x.HoldsIntegers() && x.Kind == tensor.I32 }
	sums := op == "Add" && slices.ContainsFunc(c.In, isSum)
	if integer {
		if out := computeWholes(c, op); out != nil {
			out[0].Kind = cmp.Or(c.In[0].Kind, c.In[1].Kind)
			return out
		}
	}
	if op == "Where" {
		return chooseOf(c)
	}
	if integer && !casts && !compares && !sums && !c.moves(op) {
		c.failOfIntegers()
		return nil
	}
	of := findMovedType(c, op)
	out := table[op].make(c)
	for i := range out {
		if of == tensor.Bool {
			out[i].Elements = node.Truths
		}
		if !integer && !casts {
			out[i].Within = cmp.Or(out[i].Within, findFloatBounds(c, op))
		}
		if integer && !casts && !out[i].HoldsBytes() {
			if out[i].HoldsIntegers() || !compares {
				out[i].Kind, out[i].Elements = cmp.Or(c.In[0].Kind, of), node.Integers
				if c.In[0].HoldsBytes() {
					out[i].Elements = node.Bytes
				}
				out[i].Within = cmp.Or(out[i].Within, findMovedBounds(c, op))
				if sums {
					out[i].Kind = tensor.I32
				}
			}
		}
	}
	return out
}

// findMovedType returns the file's type of a value that a node only moves. It returns 0 for other
// nodes, and for floats.
func findMovedType(c *call, op string) tensor.DType {
	if !c.moves(op) || element.IsFloat(c.In[0].DType()) {
		return 0
	}
	return c.In[0].DType()
}

// moves reports whether a node only moves its operands.
func (c *call) moves(op string) bool {
	o := table[op]
	if c.In[0].HoldsBytes() && o.integers.has(moveNumbers) {
		return false
	}
	return o.integers.has(move|moveNumbers) && !(isResize(op) && c.Text("mode", "nearest") != "nearest")
}

// failOfIntegers refuses a node that computes with integers. If they are bytes with scales, it advises
// QDQ form, which can be read as floats.
func (c *call) failOfIntegers() {
	const what = "of integers that come from the input is not supported, "
	if shift[c.In[0].Kind] > 0 || c.In[0].Kind == tensor.U8 {
		c.Fail(what + "only their moves, nearest pixels among them, comparisons and casts; quantise the file in " +
			"QDQ form (quant_format=QDQ), in which this node is one of floats")
		return
	}
	c.Fail(what + "only their moves, comparisons and casts " +
		"to floats, and of places that ArgMax or TopK make sums, products, and quotients and remainders by one " +
		"positive constant, below 2^24; compute with floats in the file, or end it before this node")
}

// ofPixels returns m with u8 images as its input, in place of f32 pixels. It returns m
// itself if its input is not an image of 1 or 3 channels, or if the order of the axes is
// ambiguous.
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

// isResize reports whether an operator changes the size of pictures.
func isResize(op string) bool { return op == "Resize" || op == "Upsample" }
