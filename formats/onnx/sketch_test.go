package onnx

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// dice returns a number from 0 to n-1. It makes every random choice when a graph is drawn.
type dice func(n int) int

// seeded returns dice that give the same numbers for the same seed.
func seeded(seed uint64) dice { return rand.New(rand.NewPCG(seed, 1)).IntN }

// byBytes returns dice that use a fuzzer's bytes, one byte for each number. After the last
// byte they return 0.
func byBytes(b []byte) dice {
	return func(n int) int {
		if len(b) == 0 {
			return 0
		}
		v := int(b[0])
		b = b[1:]
		return v % n
	}
}

func (d dice) oneIn(n int) bool     { return d(n) == n-1 }
func (d dice) between(a, b int) int { return a + d(b-a+1) }

// dims draws a shape of a rank.
func (d dice) dims(rank int) []int {
	s := make([]int, rank)
	for i := range s {
		s[i] = d.between(1, 4)
	}
	return s
}

// numbers draws n numbers from a to b.
func (d dice) numbers(n, a, b int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = d.between(a, b)
	}
	return l
}

func oneOf[T any](d dice, l ...T) T { return l[d(len(l))] }

// sketch is a small graph that is built node by node from random choices.
type sketch struct {
	dice
	m     *onnxpb.ModelProto
	g     *onnxpb.GraphProto
	opset int
	rows  int // rows of the batch when the graph is run
	named int
	have  map[string]operand
}

// operand is a value with its known properties. shape is its shape in the file, with
// sketch.rows as the length of an open batch.
type operand struct {
	name     string
	shape    []int
	constant bool
	dtype    tensor.DType
	moved    *batchAxis // batch axis, unless it is exactly the first axis
}

// newSketch makes a graph with an input of the given shape. The length of its batch may be
// open.
func newSketch(d dice, shape []int) *sketch {
	s := &sketch{dice: d, g: &onnxpb.GraphProto{Name: "sketch"}, have: map[string]operand{}}
	s.opset = oneOf(d, 6, 7, 8, 9, 10, 11, 11, 12, 13, 13, 13, 14, 15, 16, 17, 18, 18, 19, 20, 21)
	s.m = &onnxpb.ModelProto{IrVersion: min(10, max(4, int64(s.opset)/2)), Graph: s.g,
		OpsetImport: []*onnxpb.OperatorSetIdProto{{Version: int64(s.opset)}}}
	info := &onnxpb.TensorShapeProto{}
	open := d.oneIn(2)
	for i, n := range shape {
		dim := &onnxpb.TensorShapeProto_Dimension{DimValue: proto.Int64(int64(n))}
		if i == 0 && open {
			dim = &onnxpb.TensorShapeProto_Dimension{DimParam: proto.String("N")}
		}
		info.Dim = append(info.Dim, dim)
	}
	s.rows = first(shape, 1)
	s.g.Input = []*onnxpb.ValueInfoProto{declaredAs("x", onnxpb.TensorProto_FLOAT, info)}
	s.have["x"] = operand{name: "x", shape: shape, dtype: tensor.F32}
	return s
}

func declaredAs(name string, d onnxpb.TensorProto_DataType,
	shape *onnxpb.TensorShapeProto) *onnxpb.ValueInfoProto {
	return &onnxpb.ValueInfoProto{Name: name, Type: &onnxpb.TypeProto{
		TensorType: &onnxpb.TypeProto_Tensor{ElemType: int32(d), Shape: shape}}}
}

func (s *sketch) free(prefix string) string {
	s.named++
	return fmt.Sprint(prefix, s.named)
}

// keep adds a constant: an initializer, or the value of a node.
func (s *sketch) keep(t tensor.Tensor) string {
	p := &onnxpb.TensorProto{Name: s.free("c"), DataType: int32(number(t.DType)), RawData: t.Bytes}
	for _, n := range t.Shape {
		p.Dims = append(p.Dims, int64(n))
	}
	s.have[p.Name] = operand{name: p.Name, shape: t.Shape, constant: true, dtype: t.DType}
	if s.oneIn(3) {
		name := p.Name
		p.Name = ""
		s.g.Node = append(s.g.Node, &onnxpb.NodeProto{OpType: "Constant", Output: []string{name},
			Attribute: []*onnxpb.AttributeProto{{Name: "value", Type: onnxpb.AttributeProto_TENSOR, T: p}}})
		return name
	}
	s.g.Initializer = append(s.g.Initializer, p)
	return p.Name
}

// floats adds a constant of numbers from low to low+2.
func (s *sketch) floats(low float32, shape ...int) string {
	t := tensor.New(tensor.F32, shape...)
	for i := range t.F32() {
		t.F32()[i] = low + float32(s.dice(129))/64
	}
	return s.keep(t)
}

func (s *sketch) integers(l ...int) string {
	return s.keep(tensor.Of(widened(l), len(l)))
}

// near returns the given shape or, once in twelve times, another shape of any rank.
func (s *sketch) near(shape ...int) []int {
	if s.oneIn(12) {
		return s.dims(s.dice(7))
	}
	return shape
}

// broadcast draws a shape that mostly broadcasts to the given one.
func (s *sketch) broadcast(shape []int) []int {
	out := slices.Clone(shape[s.dice(len(shape)+1):])
	for i := range out {
		if s.oneIn(3) {
			out[i] = 1
		}
	}
	if len(out) == len(shape) && len(out) > 0 && !s.oneIn(4) {
		out[0] = 1
	}
	return s.near(out...)
}

// axis draws an axis of a value with a rank. It is seldom out of range.
func (s *sketch) axis(rank int) int {
	if s.oneIn(12) || rank == 0 {
		return s.between(-rank-1, rank)
	}
	return s.between(-rank, rank-1)
}

// behind draws an axis, which mostly comes after the batch axis.
func (s *sketch) behind(rank int) int {
	if rank > 1 && !s.oneIn(6) {
		return oneOf(s.dice, s.between(1, rank-1), -s.between(1, rank-1))
	}
	return s.axis(rank)
}

// axes draws one to three different axes.
func (s *sketch) axes(rank int) []int {
	var l []int
	for range s.dice(3) + 1 {
		if a := s.behind(rank); !slices.Contains(l, a) {
			l = append(l, a)
		}
	}
	return l
}

// add draws a node with the operator op and x as its first operand. It returns the names of
// the results.
func (s *sketch) add(op string, x operand) []string {
	n := &onnxpb.NodeProto{OpType: op, Name: s.free("n"), Input: []string{x.name}, Output: []string{s.free("v")}}
	if draw := draws[op]; draw != nil {
		draw(s, n, x)
	}
	s.g.Node = append(s.g.Node, n)
	return n.Output
}

// ends declares the outputs.
func (s *sketch) ends(names ...string) {
	s.g.Output = nil
	for _, name := range names {
		s.g.Output = append(s.g.Output, &onnxpb.ValueInfoProto{Name: name})
	}
}

func (s *sketch) bytes() []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(s.m)
	if err != nil {
		panic(err) // cannot happen: the message was made here
	}
	return b
}

// learn finds the properties of a value by reading the graph. ok is false if the reader
// refuses the graph.
func (s *sketch) learn(name string) (operand, bool) {
	s.ends(name)
	b := s.bytes()
	d, err := decode.Decode(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return operand{}, false
	}
	r := newReader(d.Model, s.opset, len(b), &foreign.File{})
	if r.initializers(d, &decode.External{}) != nil || r.constants(d, &decode.External{}, false) != nil {
		return operand{}, false
	}
	if x, ok := r.values[name]; ok && x.IsConstant() {
		x, _, err := r.operand(name)
		return operand{name: name, shape: x.Tensor.Shape, constant: true, dtype: x.Tensor.DType}, err == nil
	}
	_, err = r.model()
	x, ok := r.values[name]
	if moved := ok && x.Unbatched && r.shared.Tracked(); err != nil && !moved { // it cannot be an output
		return operand{}, false
	}
	o := operand{name: name, shape: slices.Clone(r.shared.ShapeOf(x)), constant: x.V == graph.None,
		dtype: tensor.F32}
	switch {
	case !x.Unbatched:
		o.shape = append([]int{s.rows}, o.shape...)
	case r.shared.Tracked():
		o.moved = &x.BatchAxis
		o.shape[o.moved.Axis] *= s.rows
	}
	return o, true
}

// bringBack adds nodes that make the batch of a value its first axis. It returns the name
// of the result.
func (s *sketch) bringBack(x operand) string {
	name, at, shape := x.name, x.moved.Axis, slices.Clone(x.shape)
	if p := x.moved; p.Outer*p.Inner > 1 {
		shape = slices.Concat(shape[:at], []int{p.Outer, -1, p.Inner}, shape[at+1:])
		n := &onnxpb.NodeProto{OpType: "Reshape", Input: []string{name}, Output: []string{s.free("v")}}
		s.list(n, "shape", 1, 5, shape...)
		s.g.Node = append(s.g.Node, n)
		name, at = n.Output[0], at+1
	}
	perm := append([]int{at}, slices.DeleteFunc(indicesTo(len(shape)), func(a int) bool { return a == at })...)
	n := &onnxpb.NodeProto{OpType: "Transpose", Input: []string{name}, Output: []string{s.free("v")},
		Attribute: []*onnxpb.AttributeProto{intsAttr("perm", perm...)}}
	s.g.Node = append(s.g.Node, n)
	return n.Output[0]
}

// sketched draws a graph that ends in the operator op. The operator's first operand has the
// given rank, including the batch. It is the input after up to five other operators, or a
// constant if the operator can be computed when the file is read.
func sketched(d dice, op string, rank int) *sketch {
	if o := table[op]; o.fold != nil && (o.make == nil || d.oneIn(4)) {
		return computed(d, op, rank)
	}
	shape := d.dims(rank)
	if len(shape) > 1 && d.oneIn(3) {
		shape[1] = 4
	}
	s := newSketch(d, shape)
	x := s.have["x"]
	for range d(6) {
		nodes, tensors := len(s.g.Node), len(s.g.Initializer)
		name := s.add(oneOf(d, before()...), x)[0]
		if o, ok := s.learn(name); ok && !o.constant {
			s.have[name], x = o, o
		} else {
			s.g.Node, s.g.Initializer = s.g.Node[:nodes], s.g.Initializer[:tensors]
		}
	}
	out := s.add(op, x)
	if o, ok := s.learn(out[0]); ok && o.moved != nil {
		out = []string{s.bringBack(o)}
	}
	s.ends(out...)
	return s
}

// before returns the operators that may precede the last one.
func before() []string {
	return slices.DeleteFunc(made(), func(op string) bool { return op == "ArgMax" })
}

// computed draws a graph in which the operator op has constant operands. The graph
// multiplies its result by the input.
func computed(d dice, op string, rank int) *sketch {
	s := newSketch(d, []int{2, 1, 1, 1, 1, 1})
	kind := oneOf(d, tensor.F32, tensor.F32, tensor.I64, tensor.I64, tensor.I32, tensor.F64,
		tensor.U8, tensor.I8, tensor.Bool)
	x := s.filled(kind, d.dims(rank)...)
	for range d(2) {
		nodes, tensors := len(s.g.Node), len(s.g.Initializer)
		name := s.add(oneOf(d, folded()...), x)[0]
		if o, ok := s.learn(name); ok && o.constant {
			s.have[name], x = o, o
		} else {
			s.g.Node, s.g.Initializer = s.g.Node[:nodes], s.g.Initializer[:tensors]
		}
	}
	name := s.add(op, x)[0]
	s.g.Node = append(s.g.Node,
		&onnxpb.NodeProto{OpType: "Cast", Input: []string{name}, Output: []string{"number"},
			Attribute: []*onnxpb.AttributeProto{intAttr("to", int(onnxpb.TensorProto_FLOAT))}},
		&onnxpb.NodeProto{OpType: "Mul", Input: []string{"x", "number"}, Output: []string{"y"}})
	s.ends("y")
	return s
}

func folded() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(table)), func(op string) bool {
		return table[op].fold == nil || op == "Constant"
	})
}
