package onnx

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// A graph with an input of u8 pictures begins with the conversion of pixels to numbers: in any order a
// Cast to floats, a Transpose from (N, H, W, C) to (N, C, H, W), a reordering of the channels, and Mul,
// Div, Sub and Add with constants, which have one number or one for each channel. The part that
// computes (x*scale - mean) / std for each channel becomes the graph's operation image, which computes
// in f64 and rounds once. The other nodes become operations of the graph. This package writes
//
//	Cast(f64), Transpose(0,3,1,2), [Gather channels,] Mul scale, [Sub mean,] [Div std,] Cast(f32)

// pixels follows the nodes of such a conversion one by one.
type pixels struct {
	*reader
	image       models.Image
	size        map[byte]int // lengths of the axes
	layout      string       // axes of the current value, without the batch
	floats      bool         // a Cast to floats has been absorbed
	inputLayout string       // layout of the input
	input       string
	at          string // name of the current value
	nodes       []int  // absorbed nodes
}

// Orders of the axes of the operand and of the results of the operation image.
const (
	pictures  = "CHW"
	asDecoded = "HWC"
)

// layoutOf returns the order of the axes of pictures. The 1 or 3 channels are the last
// or the first axis.
func layoutOf(shape []int) string {
	colours := func(n int) bool { return n == 1 || n == 3 }
	if len(shape) == 3 && !colours(shape[2]) && colours(shape[0]) {
		return pictures
	}
	return asDecoded
}

// newPixels starts at an input. shape is the shape of its samples.
func newPixels(r *reader, name string, shape []int, floats bool) *pixels {
	layout := layoutOf(shape)
	p := &pixels{reader: r, image: models.Image{Scale: 1}, size: map[byte]int{}, inputLayout: layout,
		layout: layout,
		floats: floats, input: name, at: name}
	for i, n := range shape {
		p.size[layout[i]] = n
	}
	return p
}

// walk follows a value while it has a single reader that can be absorbed. It reports
// whether it reached floats.
func (p *pixels) walk(need []bool) bool {
	for next := p.users(need); ; {
		i, ok := next[p.at]
		if !ok || !p.reads(p.src.Node[i]) {
			return p.floats
		}
		p.at, p.nodes = p.src.Node[i].Output[0], append(p.nodes, i)
	}
}

// users returns the reader of each value that has a single reader and is not an output. A Shape of the
// input does not count if pictures keep that shape.
func (p *pixels) users(need []bool) map[string]int {
	users, count := map[string]int{}, map[string]int{}
	for i, n := range p.src.Node {
		decode.EachInput(n, func(name string) {
			if need[i] && !(decode.Operator(n) == "Shape" && name == p.input && p.inputLayout == asDecoded) {
				users[name] = i
				count[name]++
			}
		})
	}
	for _, o := range p.src.Output {
		count[o.Name]++
	}
	for name := range users {
		if count[name] > 1 {
			delete(users, name)
		}
	}
	return users
}

// reads absorbs a node if possible, and reports whether it did.
func (p *pixels) reads(n *onnxpb.NodeProto) bool {
	c, op := &call{reader: p.reader, Node: p.nodeOf(n)}, decode.Operator(n)
	if len(n.Output) != 1 || table[op].attributes.Check(&c.Node) != nil {
		return false
	}
	for _, name := range n.Input {
		x, ok, err := p.operand(name)
		if name == p.at {
			x = node.Value{V: 0} // a value that is not constant
		} else if !ok && name != "" || err != nil || !x.IsConstant() {
			return false
		}
		c.In = append(c.In, x)
	}
	if op == "Add" || op == "Sub" || op == "Mul" || op == "Div" {
		return p.computes(op, c)
	}
	if len(n.Input) == 0 || n.Input[0] != p.at {
		return false
	}
	switch op {
	case "Identity":
		named := func(o *onnxpb.ValueInfoProto) bool { return o.Name == n.Output[0] }
		return !slices.ContainsFunc(p.src.Output, named) // an Identity for an output gives it the right name
	case "Cast":
		d, err := onnxpb.DType(int32(c.Int("to", 0)))
		p.floats = p.floats || err == nil && element.IsFloat(d)
		return err == nil && c.Err == nil && (element.IsFloat(d) || d == tensor.U8 && !p.floats)
	case "Transpose":
		return p.turns(c.Ints("perm", len(p.layout)+1, 0))
	case "Gather", "Slice":
		return p.reverses(op, c)
	}
	return false
}

// turns absorbs a permutation of the axes.
func (p *pixels) turns(perm []int) bool {
	for i, a := range slices.Sorted(slices.Values(perm)) {
		if a != i {
			return false
		}
	}
	if perm[0] != 0 {
		return false
	}
	var to strings.Builder
	for _, a := range perm[1:] {
		to.WriteByte(p.layout[a-1])
	}
	p.layout = to.String()
	return true
}

// reverses absorbs a reversal of the channels.
func (p *pixels) reverses(op string, c *call) bool {
	channel := strings.IndexByte(p.layout, 'C')
	if op == "Gather" && !p.gathersBackwards(c, channel) || op == "Slice" && !p.slicesBackwards(c, channel) {
		return false
	}
	i := &p.image
	i.BGR, i.Mean, i.Std = !i.BGR, slices.Clone(i.Mean), slices.Clone(i.Std)
	slices.Reverse(i.Mean)
	slices.Reverse(i.Std)
	return true
}

// axis returns the axis of the layout that corresponds to an axis of the
// file.
func (p *pixels) axis(c *call, a int64) int {
	if a < 0 {
		a += int64(len(p.layout) + 1)
	}
	if a < 1 || a > int64(len(p.layout)) {
		c.Fail("axis %d", a)
		return 0
	}
	return int(a - 1)
}

// gathersBackwards reports whether a Gather reverses a whole axis.
func (p *pixels) gathersBackwards(c *call, axis int) bool {
	n := p.size[p.layout[axis]]
	t, ok := c.Constant(1)
	list, err := element.IntegersOf(t)
	if !ok || err != nil || p.axis(c, int64(c.Int("axis", 0))) != axis || c.Err != nil || len(t.Shape) != 1 ||
		len(list) != n {
		return false
	}
	for i, k := range list {
		if k != int64(n-1-i) && k != int64(-1-i) {
			return false
		}
	}
	return true
}

// slicesBackwards reports whether a Slice reverses a whole axis and leaves all others
// unchanged.
func (p *pixels) slicesBackwards(c *call, axis int) bool {
	shape := make([]int, len(p.layout))
	for i := range shape {
		shape[i] = p.size[p.layout[i]]
	}
	spans := c.Spans(shape, func(a int64) int { return p.axis(c, a) })
	for i, s := range spans {
		if i != axis && s != (node.Span{Begin: 0, End: shape[i], Step: 1, Count: shape[i]}) {
			return false
		}
	}
	return c.Err == nil && spans[axis].Step == -1 && spans[axis].Count == shape[axis]
}
