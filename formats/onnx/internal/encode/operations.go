package encode

import (
	"maps"
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

// encoders has the operations that have a counterpart in ONNX.
var encoders map[graph.Op]func(*encoding)

func init() { // in init, because the encoders refer to functions that use the table
	encoders = map[graph.Op]func(*encoding){
		graph.Image: encodeImage, graph.Conv: encodeConv, graph.ConvTranspose: encodeConv,
		graph.Dense: encodeDense, graph.MatMul: encodeMatMul, graph.BatchNorm: encodeBatchNorm,
		graph.LayerNorm: encodeLayerNorm, graph.GroupNorm: encodeGroupNorm,

		graph.MaxPool: encodePool, graph.AvgPool: encodePool, graph.GlobalAvgPool: named("GlobalAveragePool"),

		graph.Relu: named("Relu"), graph.Sigmoid: named("Sigmoid"), graph.Tanh: named("Tanh"),
		graph.Softplus: named("Softplus"), graph.HardSwish: named("HardSwish"),
		graph.Exp: named("Exp"), graph.Log: named("Log"), graph.Sqrt: named("Sqrt"),
		graph.Relu6: encodeClip, graph.Clip: encodeClip, graph.LeakyRelu: withFloats("LeakyRelu", "alpha"),
		graph.Elu: withFloats("Elu", "alpha"), graph.HardSigmoid: withFloats("HardSigmoid", "alpha", "beta"),
		graph.Erf: named("Erf"), graph.Gelu: encodeGelu, graph.GeluTanh: encodeGelu, graph.Mish: encodeMish,
		graph.Silu: encodeSilu, graph.Prelu: encodePrelu,
		graph.Softmax: encodeSoftmax, graph.LogSoftmax: encodeSoftmax,

		graph.Add: encodeBinary, graph.Sub: encodeBinary, graph.Mul: encodeBinary, graph.Div: encodeBinary,
		graph.Affine: encodeAffine, graph.ReduceSum: encodeReduce, graph.ReduceMean: encodeReduce,
		graph.BroadcastTo: encodeBroadcast,
		graph.Max:         encodeBinary, graph.Min: encodeBinary, graph.Pow: encodeBinary,
		graph.Compare: encodeCompare, graph.Where: encodeWhere, graph.Round: encodeRound,
		graph.ReduceMax: encodeReduce, graph.ReduceMin: encodeReduce, graph.ReduceProd: encodeReduce,

		graph.Concat: encodeConcat, graph.Slice: encodeSlice, graph.Pad: encodePad,
		graph.Reshape: encodeReshape, graph.Transpose: encodeTranspose, graph.Take: encodeTake,
		graph.Upsample: encodeUpsample, graph.Dropout: encodeDropout,

		graph.Quantize: encodeQuantised, graph.Dequantize: encodeQuantised,
		graph.ConvInt8: encodeSumInt8, graph.DenseInt8: encodeSumInt8, graph.AddInt8: encodePairInt8,
		graph.MulInt8: encodePairInt8, graph.AvgPoolInt8: encodeAvgPoolInt8, graph.MaxPoolInt8: encodePool,
		graph.TableInt8: encodeTableInt8, graph.ConcatInt8: encodeConcat, graph.PadInt8: encodePadInt8,
	}
}

// Operations returns the operations that have a counterpart in ONNX.
func Operations() []graph.Op { return slices.Sorted(maps.Keys(encoders)) }

// encoding is one node that is being written to ONNX.
type encoding struct {
	*writer
	n       *graph.Node
	in      []string
	out     string
	weights bool // the node computes a weight: see weights.go
}

func (w *writer) node(n *graph.Node) {
	if w.err != nil {
		return
	}
	e := &encoding{writer: w, n: n, weights: w.isComputedWeight(n.Out[0])}
	encode := encoders[n.Op]
	if encode == nil {
		w.fail("node %s: operation %v has no counterpart in ONNX", w.f.NodeName(n), n.Op)
		return
	}
	if t := w.f.Values[n.Out[0]].Type; t.Kind != graph.Rows && !e.weights {
		w.fail("node %s (%v): %v is not written", w.f.NodeName(n), n.Op, t)
		return
	}
	e.operands()
	encode(e)
}

// operands names the operands and the result.
func (e *encoding) operands() {
	if e.weights {
		for _, v := range e.n.In {
			e.in = append(e.in, e.rowName(v))
		}
		e.out = e.rowName(e.n.Out[0])
		return
	}
	if e.n.Op != graph.Prelu { // the slope is written with another shape
		for _, v := range e.n.In {
			e.in = append(e.in, e.name(v))
		}
	}
	e.out = e.name(e.n.Out[0])
}

// isRows reports whether operand i is written with a batch axis.
func (e *encoding) isRows(i int) bool {
	return e.weights || e.f.Values[e.n.In[i]].Type.Kind == graph.Rows
}

// shape returns the shape of operand i without the batch.
func (e *encoding) shape(i int) []int { return e.f.Values[e.n.In[i]].Type.Shape }

// result returns the shape of the result without the batch.
func (e *encoding) result() []int { return e.f.Values[e.n.Out[0]].Type.Shape }

// is adds the node for an operation that is a single node in ONNX.
func (e *encoding) is(op string, attrs ...*onnxpb.AttributeProto) { e.add(op, e.in, e.out, attrs...) }

// intermediate adds a node with an intermediate result of the operation.
func (e *encoding) intermediate(op, suffix string, in []string, attrs ...*onnxpb.AttributeProto) string {
	return e.add(op, in, e.takenNames.Free(e.out+suffix), attrs...)
}

func named(op string) func(*encoding) { return func(e *encoding) { e.is(op) } }

// withFloats returns the encoder of an operation with float attributes. They have the
// same names in ONNX.
func withFloats(op string, names ...string) func(*encoding) {
	return func(e *encoding) {
		var attrs []*onnxpb.AttributeProto
		for _, name := range names {
			attrs = append(attrs, onnxpb.FloatAttr(name, e.n.Float(name)))
		}
		e.is(op, attrs...)
	}
}

func encodeClip(e *encoding) {
	low, high := 0.0, 6.0
	if e.n.Op == graph.Clip {
		low, high = e.n.Float("min"), e.n.Float("max")
	}
	for _, bound := range []struct {
		name string
		at   float64
		open int
	}{{".min", low, -1}, {".max", high, 1}} {
		name := ""
		if !math.IsInf(bound.at, bound.open) {
			name = e.scalar(e.out+bound.name, bound.at)
		}
		e.in = append(e.in, name)
	}
	e.is("Clip")
}

func encodeSilu(e *encoding) {
	s := e.intermediate("Sigmoid", ".sigmoid", e.in)
	e.add("Mul", []string{e.in[0], s}, e.out)
}

// encodeMish writes several nodes, because the operator needs operator set 18.
func encodeMish(e *encoding) {
	gate := e.intermediate("Tanh", ".tanh", []string{e.intermediate("Softplus", ".softplus", e.in)})
	e.add("Mul", []string{e.in[0], gate}, e.out)
}

// encodeGelu writes several nodes in the order of the definition, because the operator needs
// operator set 20.
func encodeGelu(e *encoding) {
	x := e.in[0]
	scaled := func(suffix, v string, by float64) string {
		return e.intermediate("Mul", suffix, []string{v, e.scalar(e.out+suffix+".by", by)})
	}
	var gate string
	if e.n.Op == graph.Gelu {
		over := e.intermediate("Div", ".over", []string{x, e.scalar(e.out+".sqrt2", math.Sqrt2)})
		gate = e.intermediate("Erf", ".erf", []string{over})
	} else {
		cube := e.intermediate("Mul", ".cube", []string{e.intermediate("Mul", ".square", []string{x, x}), x})
		sum := e.intermediate("Add", ".sum", []string{x, scaled(".more", cube, 0.044715)})
		gate = e.intermediate("Tanh", ".tanh", []string{scaled(".inner", sum, math.Sqrt(2/math.Pi))})
	}
	gate = e.intermediate("Add", ".gate", []string{gate, e.scalar(e.out+".one", 1)})
	if e.n.Bool("halve_last") {
		product := e.intermediate("Mul", ".product", []string{x, gate})
		e.add("Mul", []string{product, e.scalar(e.out+".half", 0.5)}, e.out)
		return
	}
	e.add("Mul", []string{scaled(".part", x, 0.5), gate}, e.out)
}

// encodePrelu writes the slopes [C] as [C,1,1], as ONNX aligns them.
func encodePrelu(e *encoding) {
	name := e.f.Values[e.n.In[1]].State
	shape := []int{e.shape(1)[0]}
	for range len(e.shape(0)) - 1 {
		shape = append(shape, 1)
	}
	if name == "" {
		slopes := e.ints(e.out+".slopes", shape...)
		e.in = []string{e.name(e.n.In[0]), e.intermediate("Reshape", ".slope", []string{e.name(e.n.In[1]), slopes})}
		e.is("PRelu")
		return
	}
	if _, ok := e.names[e.n.In[1]]; !ok {
		e.names[e.n.In[1]] = e.initializer(name, e.m.State[name].Reshape(shape...))
	}
	e.in = []string{e.name(e.n.In[0]), e.names[e.n.In[1]]}
	e.is("PRelu")
}

func encodeSoftmax(e *encoding) {
	op := map[graph.Op]string{graph.Softmax: "Softmax", graph.LogSoftmax: "LogSoftmax"}[e.n.Op]
	e.is(op, onnxpb.IntAttr("axis", e.n.Int("axis")+1))
}

// encodeAffine writes a product and a sum, without those that have no effect.
func encodeAffine(e *encoding) {
	by, add := e.n.Float("by"), e.n.Float("add")
	x := e.in[0]
	switch {
	case add == 0:
		e.add("Mul", []string{x, e.scalar(e.out+".by", by)}, e.out)
		return
	case by != 1:
		x = e.intermediate("Mul", ".product", []string{x, e.scalar(e.out+".by", by)})
	}
	e.add("Add", []string{x, e.scalar(e.out+".add", add)}, e.out)
}

// encodeReduce writes a reduction. The axes are an operand of ReduceSum from operator set 13 on, and of
// other reductions from 18 on.
func encodeReduce(e *encoding) {
	axes, keep := e.n.Ints("axes"), 0
	for i := range axes {
		axes[i]++
	}
	if e.n.Bool("keep") {
		keep = 1
	}
	if e.n.Op != graph.ReduceSum {
		op := map[graph.Op]string{graph.ReduceMean: "ReduceMean", graph.ReduceMax: "ReduceMax",
			graph.ReduceMin: "ReduceMin", graph.ReduceProd: "ReduceProd"}[e.n.Op]
		e.is(op, onnxpb.IntsAttr("axes", axes...), onnxpb.IntAttr("keepdims", keep))
		return
	}
	e.in = append(e.in, e.ints(e.out+".axes", axes...))
	e.is("ReduceSum", onnxpb.IntAttr("keepdims", keep))
}

func encodeBroadcast(e *encoding) {
	if len(e.shape(0)) != len(e.result()) {
		e.fail("node %s: broadcast of rank %d to %d is not written", e.out, len(e.shape(0)), len(e.result()))
	}
	e.in = append(e.in, e.ints(e.out+".shape", append([]int{1}, e.result()...)...))
	e.is("Expand")
}
