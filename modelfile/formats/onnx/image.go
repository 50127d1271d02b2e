package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/internal/foreign"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// A model written here takes u8 images (N, H, W, C) and begins with what the
// graph's operation image does, in f64 as it does:
//
//	Cast(f64), Transpose(0,3,1,2), [Gather channels,] Mul scale, [Sub mean,] [Div std,] Cast(f32)
//
// Read is that chain alone; no other graph may compute with u8.

// resizeKey is the key of the model's properties that says to which length the
// shorter side of an image file is resized before that; 0 as in models.Preprocess.
const (
	resizeKey = "bnctl.resize"
	maxResize = 1 << 16
)

// The keys of whether image files are turned as their EXIF orientation says,
// and of the filter that resizes them, where that is not bilinear.
const (
	exifKey   = "bnctl.exif"
	exifApply = "apply"
	filterKey = "bnctl.interpolation"
)

// chain walks over the nodes that follow on the input one by one.
type chain struct {
	*call
	next map[string]int // the node that takes a value, if one alone does
	need []bool         // nodes that are still to be read
	at   string         // the value that was reached
}

// image reads the chain that begins at the input and stores its result.
func (r *reader) image(name string, x value, need []bool) error {
	c := &chain{call: &call{reader: r, n: &onnxpb.NodeProto{}}, next: r.users(need), need: need, at: name}
	if s := r.shapeOf(x); len(s) != 3 {
		c.fail("u8 samples of the shape %v are not supported, only images (height, width, channels)", s)
	}
	if n := c.step("Cast", true); n.int("to", 0) != int(onnxpb.TensorProto_DOUBLE) {
		c.fail("u8 images are supported only as they are written here: the input is not cast to f64 first")
	}
	if n := c.step("Transpose", true); !slices.Equal(n.ints("perm", 4, 0), []int{0, 3, 1, 2}) {
		c.fail("the input is not transposed to (N, C, H, W)")
	}
	var attrs graph.Attrs
	if n := c.step("Gather", false); n.n.OpType != "" {
		attrs = attrs.With("bgr", n.reverses(r.shapeOf(x)[2]))
	}
	attrs = attrs.With("scale", first(c.step("Mul", true).f64(), 1))
	for _, p := range []struct{ op, attr string }{{"Sub", "mean"}, {"Div", "std"}} {
		if n := c.step(p.op, false); n.n.OpType != "" {
			attrs = attrs.With(p.attr, n.f64())
		}
	}
	c.step("Cast", true)
	if c.err != nil {
		return c.err
	}
	if out := r.g.Node(graph.Image, r.g.UniqueName(foreign.Clean(c.at, "image")), attrs, x.v); len(out) == 1 {
		r.values[c.at] = rows(out[0])
	}
	return r.g.Err()
}

func first[T any](l []T, otherwise T) T {
	if len(l) > 0 {
		return l[0]
	}
	return otherwise
}

// users returns, for every value that one node alone takes, the index of that node.
func (r *reader) users(need []bool) map[string]int {
	users, count := map[string]int{}, map[string]int{}
	for i, n := range r.src.Node {
		for _, name := range n.Input {
			if need[i] {
				users[name] = i
				count[name]++
			}
		}
	}
	for name, n := range count {
		if n > 1 {
			delete(users, name)
		}
	}
	return users
}

// step goes over the next node if it is of an operator; that node is read
// then. Without one it returns a call of no operator.
func (c *chain) step(op string, must bool) *call {
	i, ok := c.next[c.at]
	if c.err != nil || !ok || c.src.Node[i].OpType != op || len(c.src.Node[i].Output) != 1 ||
		c.src.Node[i].Input[0] != c.at {
		if must {
			c.fail("u8 images are supported only as they are written here: no %s follows on %.80q", op, c.at)
		}
		return &call{reader: c.reader, n: &onnxpb.NodeProto{}}
	}
	n := c.src.Node[i]
	c.at, c.need[i] = n.Output[0], false
	return &call{reader: c.reader, n: n}
}

// reverses reports whether a Gather turns the order of the channels.
func (c *call) reverses(channels int) bool {
	t := c.second()
	ok := t.DType == tensor.I64 && t.Count() == channels && c.int("axis", 0) == 1
	for i := 0; ok && i < channels; i++ {
		ok = t.I64()[i] == int64(channels-1-i)
	}
	return ok
}

// f64 returns the elements of the second operand, a constant.
func (c *call) f64() []float64 {
	if t := c.second(); t.DType == tensor.F64 {
		return slices.Clone(t.F64())
	}
	return nil
}

// second returns the second operand if it is a constant.
func (c *call) second() tensor.Tensor {
	if len(c.n.Input) != 2 {
		return tensor.Tensor{}
	}
	x, _, err := c.operand(c.n.Input[1])
	if err != nil {
		c.fail("%w", err)
	}
	return x.c
}
