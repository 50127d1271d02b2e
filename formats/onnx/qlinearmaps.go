package onnx

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		microsoft + "QLinearAdd": {attributes: accept(8, ""),
			quantised: &quantisedOp{bytes: addBytes, expand: (*expansion).qLinearPair}},
		microsoft + "QLinearMul": {attributes: accept(8, ""),
			quantised: &quantisedOp{bytes: mulBytes, expand: (*expansion).qLinearPair}},
		microsoft + "QLinearConcat": {attributes: accept(node.ManyOperands, "axis"),
			quantised: &quantisedOp{bytes: concatBytes, expand: (*expansion).qLinearConcat}},
		microsoft + "QLinearAveragePool": {
			attributes: accept(5, windowAttributes+" ceil_mode channels_last count_include_pad"),
			refused:    "channels_last; what AveragePool refuses",
			quantised:  &quantisedOp{bytes: averageBytes, expand: (*expansion).qLinearAverage}},
		microsoft + "QLinearGlobalAveragePool": {attributes: accept(5, "channels_last"),
			refused:   "channels_last",
			quantised: &quantisedOp{bytes: averageBytes, expand: (*expansion).qLinearAverage}},
		microsoft + "QLinearLeakyRelu": {attributes: accept(5, "alpha"),
			quantised: &quantisedOp{bytes: lookUpBytes, expand: (*expansion).qLinearActivation}},
		microsoft + "QLinearSigmoid": {attributes: accept(5, ""),
			quantised: &quantisedOp{bytes: lookUpBytes, expand: (*expansion).qLinearActivation}},
	})
}

// byteMap is an operand of bytes, a feature map, with its scale.
type byteMap struct {
	index int
	scale byteScale
}

// readByteMap reads operand i. Its scale and zero point are operands s and s+1.
func readByteMap(c *call, i, s int) (m byteMap, ok bool) {
	if !c.Has(i) {
		return m, false
	}
	m.index = i
	m.scale, ok = readByteScale(c, s, s+1, findKind(c, i))
	return m, ok && canBeBytes(c, i, m.scale.kind)
}

// value returns the bytes.
func (m byteMap) value(c *call) graph.Value { return toBytes(c, m.index, m.scale.kind) }

// readPair reads both operands of a QLinearAdd or QLinearMul, and the scale of its result.
func readPair(c *call) (a, b byteMap, y byteScale, ok bool) {
	a, okA := readByteMap(c, 0, 1)
	b, okB := readByteMap(c, 3, 4)
	y, okY := readByteScale(c, 6, 7, a.scale.kind)
	return a, b, y, okA && okB && okY
}

// jointOf returns the attribute joint of a sum or a product: the type of its feature maps, which
// selects the formula of ONNX Runtime. Templates that bnctl exports as ONNX have it in each node.
func jointOf(c *call, a, b byteMap, y byteScale) string {
	kind := y.kind.String()
	if a.scale.kind != y.kind || b.scale.kind != y.kind {
		kind = onnxpb.Apart
	}
	if kind = c.Text("joint", kind); kind == onnxpb.Apart {
		return ""
	}
	return kind
}

// addBytes reads QLinearAdd of two feature maps with the same shape.
func addBytes(c *call) (node.Value, bool) {
	a, b, y, ok := readPair(c)
	if !ok || !slices.Equal(c.ShapeOf(c.In[0]), c.ShapeOf(c.In[3])) {
		return node.Value{}, false
	}
	aBy, bBy := a.scale.factor/y.factor, b.scale.factor/y.factor
	if !isFactor(aBy) || !isFactor(bBy) {
		return node.Value{}, false
	}
	with := append(byteBounds(c, y.kind), "a_zero", a.scale.zero, "b_zero", b.scale.zero, "a_by", float64(aBy),
		"b_by", float64(bBy), "zero", y.zero, "joint", jointOf(c, a, b, y))
	v := c.node(graph.AddInt8, "", []graph.Value{a.value(c), b.value(c)}, with...)
	return bytesOf(v, y.kind), true
}

// mulBytes reads QLinearMul of two feature maps with the same shape, or of a feature map and a
// number for each channel.
func mulBytes(c *call) (node.Value, bool) {
	a, b, y, ok := readPair(c)
	if !ok {
		return node.Value{}, false
	}
	if len(c.ShapeOf(c.In[0])) > 0 && tensor.Count(c.ShapeOf(c.In[0])) < tensor.Count(c.ShapeOf(c.In[3])) {
		a, b = b, a
	}
	s, gate := c.ShapeOf(c.In[a.index]), c.ShapeOf(c.In[b.index])
	gates := len(s) > 0 && len(gate) == len(s) && gate[0] == s[0] && tensor.Count(gate) == s[0]
	by := float32(a.scale.factor*b.scale.factor) / y.factor
	if !gates && !slices.Equal(s, gate) || len(s) == 0 || !isFactor(by) {
		return node.Value{}, false
	}
	with := append(byteBounds(c, y.kind), "a_zero", a.scale.zero, "b_zero", b.scale.zero, "by", float64(by),
		"zero", y.zero, "joint", jointOf(c, a, b, y))
	v := c.node(graph.MulInt8, "", []graph.Value{a.value(c), b.value(c)}, with...)
	return bytesOf(v, y.kind), true
}

// concatBytes reads QLinearConcat. A table converts each operand to the scale of the result.
func concatBytes(c *call) (node.Value, bool) {
	y, ok := readByteScale(c, 0, 1, tensor.U8)
	if !ok || len(c.In) < 5 || len(c.In)%3 != 2 {
		return node.Value{}, false
	}
	var maps []byteMap
	for i := 2; i < len(c.In); i += 3 {
		m, ok := readByteMap(c, i, i+1)
		if !ok {
			return node.Value{}, false
		}
		maps = append(maps, m)
	}
	axis := c.Axis(int64(c.Int("axis", 1)), len(c.ShapeOf(c.In[2])))
	if c.Err != nil {
		return node.Value{}, false
	}
	var in []graph.Value
	for _, m := range maps {
		in = append(in, lookUpTable(c, m, y, func(x float64) float64 { return x }))
	}
	return bytesOf(c.node(graph.ConcatInt8, "", in, "axis", axis), y.kind), true
}

// lookUpTable applies a function to bytes by a table. It adds no node if the function
// changes no byte.
func lookUpTable(c *call, m byteMap, y byteScale, f func(float64) float64) graph.Value {
	t, same := tensor.New(tensor.U8, 256), true
	to := class.Int8{Zero: int32(y.zero), Max: 255}
	for q := range t.U8() {
		x := m.scale.factor * float32(q-m.scale.zero)
		t.U8()[q] = to.Quantize(float32(f(float64(x))), y.factor)
		same = same && int(t.U8()[q]) == q
	}
	if same {
		return m.value(c)
	}
	return c.node(graph.TableInt8, "", []graph.Value{m.value(c), c.declare(c.name+".table", graph.Constant, t)})
}

// lookUpBytes reads QLinearLeakyRelu and QLinearSigmoid.
func lookUpBytes(c *call) (node.Value, bool) {
	m, ok := readByteMap(c, 0, 1)
	y, okY := readByteScale(c, 3, 4, m.scale.kind)
	if !ok || !okY {
		return node.Value{}, false
	}
	f := tableFunction(c)
	if f == nil || c.Err != nil {
		return node.Value{}, false
	}
	return bytesOf(lookUpTable(c, m, y, f), y.kind), true
}

// tableFunction returns the function of a node that a table can compute, or nil.
func tableFunction(c *call) func(float64) float64 {
	n := &graph.Node{}
	switch functionOf(c) {
	case "Identity":
		return func(x float64) float64 { return x }
	case "Sigmoid":
		n.Op = graph.Sigmoid
	case "Silu":
		n.Op = graph.Silu
	case "Relu":
		n.Op = graph.Relu
	case "Tanh":
		n.Op = graph.Tanh
	case "HardSwish":
		n.Op = graph.HardSwish
	case "Softplus":
		n.Op = graph.Softplus
	case "LeakyRelu":
		n.Op, n.Attrs = graph.LeakyRelu, n.Attrs.With("alpha", c.Float("alpha", 0.01))
	case "Elu":
		n.Op, n.Attrs = graph.Elu, n.Attrs.With("alpha", c.Float("alpha", 1))
	case "HardSigmoid":
		n.Op = graph.HardSigmoid
		n.Attrs = n.Attrs.With("alpha", c.Float("alpha", 0.2)).With("beta", c.Float("beta", 0.5))
	case "Clip":
		n.Op = graph.Clip
		n.Attrs = n.Attrs.With("min", c.Float("min", float32(math.Inf(-1)))).With("max",
			c.Float("max", float32(math.Inf(1))))
	default:
		return nil
	}
	return class.Activation(n)
}

// functionOf returns the operator of floats that corresponds to a node of integers.
func functionOf(c *call) string {
	return cmp.Or(c.Text("of", ""), strings.TrimPrefix(c.Proto.OpType, "QLinear"))
}

// maxMean is the maximum number of bytes in a mean.
const maxMean = 1 << 15

// averageBytes reads QLinearAveragePool and QLinearGlobalAveragePool.
func averageBytes(c *call) (node.Value, bool) {
	m, ok := readByteMap(c, 0, 1)
	y, okY := readByteScale(c, 3, 4, m.scale.kind)
	by := float64(m.scale.factor) / float64(y.factor)
	if !ok || !okY || c.Int("channels_last", 0) != 0 || !isFactor(float32(by)) {
		return node.Value{}, false
	}
	s := c.ShapeOf(c.In[0])
	if len(s) != 2 && len(s) != 3 {
		return node.Value{}, false
	}
	none, count := make([]int, len(s)-1), false
	w := window{kernel: s[1:], stride: s[1:], begin: none, end: none}
	if c.Proto.OpType == "QLinearAveragePool" {
		w, count = readPoolWindow(c, s)
	}
	w = w.image()
	if c.Err != nil || tensor.Count(w.kernel) > maxMean || count && slices.Max(w.beyond) > 0 {
		return node.Value{}, false
	}
	if c.Proto.OpType == "QLinearGlobalAveragePool" {
		by = globalMean(m.scale.factor, y.factor, tensor.Count(w.kernel))
	}
	x := c.toImage(m.value(c), s)
	v := c.node(graph.AvgPoolInt8, "", []graph.Value{x}, "kernel", w.kernel, "stride", w.stride, "pad", w.pads(),
		"count_pad", count && slices.Max(w.pads()) > 0, "by", by, "x_zero", m.scale.zero, "zero", y.zero)
	return bytesOf(c.fromImage(v, len(s)-1), y.kind), true
}

// globalMean returns the factor for a mean of n bytes. The graph divides it by n in float64, which gives the
// factor of ONNX Runtime for a sum: x/(y*n) in f32.
func globalMean(x, y float32, n int) float64 {
	of := x / float32(y*float32(n))
	return float64(of) * float64(n)
}

// meanBytes reads QLinearReduceMean over both axes of an image.
func meanBytes(c *call) (node.Value, bool) {
	s := c.ShapeOf(c.In[0])
	axes, given := c.List("axes", node.ManyOperands)
	if len(s) != 3 || !given || len(axes) != 2 {
		return node.Value{}, false
	}
	const rank = 4 // rank in the file
	a, b := (axes[0]+rank)%rank, (axes[1]+rank)%rank
	if min(a, b) != 2 || max(a, b) != 3 {
		return node.Value{}, false
	}
	v, ok := averageBytes(c)
	if ok && c.Int("keepdims", 1) == 0 {
		v.V = c.node(graph.Reshape, ".mean", []graph.Value{v.V}, "shape", s[:1])
	}
	return v, ok
}
