package quantize

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// byteMap is a value that is stored as bytes.
type byteMap struct {
	value    graph.Value
	scale    scale
	divisors []float64 // divisors of the channels before they become bytes; nil: 1 each
}

// builder makes the function of an int8 template, node by node. A convolution or dense
// layer (a product) becomes a product of bytes. A node that follows becomes an operation on
// bytes if its operation has a form for bytes and its operands are already bytes. The rest
// is copied, with conversions at the borders.
type builder struct {
	graph.Copier
	model *models.Model // its batch norms are folded where possible
	knowledge
	stays
	table  []graph.State
	state  map[string]tensor.Tensor
	bytes  map[graph.Value]byteMap // keys are values of From
	users  [][]int
	done   map[int]bool // nodes that were merged into an earlier node
	layers []Layer
	warned []Warning
	index  int // index of the current node
	// trains keeps the weights of convolutions and dense layers in float32, to be trained: see
	// Trainable. names has the names of trained tensors by their names in model.
	trains bool
	names  map[string]string
	// plain omits the divisors of channels, so that trained weights are the model's weights.
	plain bool
}

// built is an int8 template with the results for layers and values.
type built struct {
	*models.Model
	layers   []Layer
	warnings []Warning
	bytes    map[graph.Value]byteMap // keys are values of the source model
	known    knowledge               // argument of build, like stays
	stays    stays
}

// build returns the int8 template of m.
func build(m *models.Model, known knowledge, float stays) (*built, error) {
	return (&builder{model: m, knowledge: known, stays: float}).build()
}

func (b *builder) build() (*built, error) {
	m, f := b.model, b.model.Graph.Main
	b.state, b.bytes, b.done = map[string]tensor.Tensor{}, map[graph.Value]byteMap{}, map[int]bool{}
	b.names, b.users = map[string]string{}, f.Users()
	b.Copier = graph.NewCopier(f, graph.NewBuilder(f.Name, &b.table))
	b.Inputs()
	for b.index = range f.Nodes {
		if b.done[b.index] {
			continue
		}
		n := &f.Nodes[b.index]
		took, err := b.asBytes(n)
		if err == nil && !took {
			err = b.copied(n)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.NodeName(n), err)
		}
	}
	for _, o := range f.Outputs {
		b.float(o.Value)
	}
	b.Outputs()
	main, err := b.Builder.Function()
	if err != nil {
		return nil, err
	}
	out := *m
	out.Graph = &graph.Graph{Name: m.Graph.Name, State: b.table, Main: main}
	out.State = b.state
	if err := b.checkBytes(&out); err != nil {
		return nil, err
	}
	return &built{&out, b.layers, b.warned, b.bytes, b.knowledge, b.stays}, out.Check()
}

// checkBytes returns an error if no layer of the template computes with bytes.
func (b *builder) checkBytes(out *models.Model) error {
	lacks := func(l Layer) bool { return l.Why == unknownRange }
	switch {
	case out.Int8():
		return nil
	case slices.ContainsFunc(b.layers, lacks):
		advice := "give samples with {data}, or the way from pixels to the model's input with {preprocess}"
		return problem.Advise(advice, "%w any layer's operand", ErrNoRange)
	}
	return problem.Advise("name fewer with {keep}, or take a model that has convolutions or dense "+
		"layers, which alone become bytes", "no layer becomes bytes: all of them stay float32")
}

// copied adds a node unchanged.
func (b *builder) copied(n *graph.Node) error {
	for _, v := range n.In {
		if v == graph.None {
			continue
		}
		if name := b.From.Values[v].State; name != "" {
			b.takeState(name)
			continue
		}
		b.float(v)
	}
	b.Copy(n)
	if isProduct(n.Op) {
		l := b.layerOf(n)
		l.Float, l.Why, l.Bytes = true, b.whyFloat(n), l.Before
		b.layers = append(b.layers, l)
	}
	return nil
}

// takeState declares a tensor that the model stores, unchanged.
func (b *builder) takeState(name string) {
	i := slices.IndexFunc(b.model.Graph.State, func(s graph.State) bool { return s.Name == name })
	b.Builder.Declare(b.model.Graph.State[i])
	b.state[name] = b.model.State[name]
}

// declare declares a state tensor with this name, or a similar one if the name is used.
func (b *builder) declare(name string, t tensor.Tensor, role graph.Role) graph.Value {
	for _, taken := b.state[name]; taken || b.readAsItIs(name); _, taken = b.state[name] {
		name += "_"
	}
	b.state[name] = t
	return b.Builder.Declare(graph.State{Name: name, DType: t.DType, Shape: t.Shape, Role: role})
}

// readAsItIs reports whether a node that stays float32 reads a state tensor of the model.
func (b *builder) readAsItIs(name string) bool {
	return slices.ContainsFunc(b.From.Nodes, func(n graph.Node) bool {
		reads := slices.ContainsFunc(n.In, func(v graph.Value) bool {
			return v != graph.None && b.From.Values[v].State == name
		})
		return reads && (!b.takesProduct(&n) || b.remains(b.From.NodeName(&n)))
	})
}

// float makes the value v available in float32, by a conversion if v is stored as bytes.
func (b *builder) float(v graph.Value) {
	if _, ok := b.To[v]; ok || b.From.Values[v].State != "" {
		return
	}
	q := b.bytes[v]
	name := b.Builder.UniqueName(b.From.Values[v].Name + ".float")
	b.To[v] = b.Builder.Op(graph.Dequantize, name, []graph.Value{q.value}, "scale", q.scale.factor, "zero",
		q.scale.zero)
}

// asByteMap returns v as bytes, and converts it if necessary.
func (b *builder) asByteMap(v graph.Value) (byteMap, error) {
	if q, ok := b.bytes[v]; ok {
		return q, nil
	}
	s, err := b.scale(v)
	if err != nil {
		return byteMap{}, err
	}
	name := b.Builder.UniqueName(b.From.Values[v].Name + ".int8")
	to := b.Builder.Op(graph.Quantize, name, []graph.Value{b.Value(v)}, "scale", s.factor, "zero", s.zero)
	q := byteMap{value: to, scale: s}
	b.bytes[v] = q
	return q, nil
}

// ErrNoRange is the error for a model that can be quantised only with samples.
var ErrNoRange = errors.New("quantize needs data: without samples there is no range of")

// scale returns the scale of v.
func (b *builder) scale(v graph.Value) (scale, error) {
	r, ok := b.ranges[v]
	if !ok {
		advice := "give samples with {data}, or leave what reads it as it is with {keep}"
		if slices.Contains(b.From.Inputs, v) {
			advice = "give samples with {data}, or the way from pixels to the model's input with {preprocess}"
		}
		return scale{}, problem.Advise(advice, "%w %s", ErrNoRange, b.From.Values[v].Name)
	}
	s, err := r.scaleOf()
	if err != nil {
		err = fmt.Errorf("%s: %w", b.From.Values[v].Name, err)
	}
	return s, err
}

// areBytes reports whether all operands of a node are already bytes.
func (b *builder) areBytes(n *graph.Node) bool {
	return !slices.ContainsFunc(n.In, func(v graph.Value) bool { _, ok := b.bytes[v]; return !ok })
}

// asBytes adds the node's form for bytes instead of the node, if possible, and reports whether it
// did.
func (b *builder) asBytes(n *graph.Node) (took bool, err error) {
	f := b.From
	switch {
	case b.remains(f.NodeName(n)):
		return false, nil
	case b.lacksRange(n):
		return false, nil
	case b.takesProduct(n):
		return true, b.product(n)
	case !b.areBytes(n), !b.hasRange(n):
		return false, nil
	}
	switch n.Op {
	case graph.Add:
		if shapeOf(f, n.In[0]) == shapeOf(f, n.In[1]) {
			return true, b.add(n)
		}
	case graph.Mul:
		if a, gate, ok := factors(f, n); ok {
			return true, b.mul(n, a, gate)
		}
	case graph.MaxPool:
		return true, b.moved(n, graph.MaxPoolInt8)
	case graph.Reshape, graph.Slice, graph.Transpose, graph.Take:
		return true, b.moved(n, n.Op)
	case graph.Pad:
		if n.Float("value") == 0 {
			return true, b.pad(n)
		}
	case graph.AvgPool, graph.GlobalAvgPool:
		return true, b.average(n)
	case graph.ReduceMean:
		if x := f.Values[n.In[0]].Type.Shape; len(x) == 3 && slices.Equal(n.Ints("axes"), []int{1, 2}) {
			return true, b.average(n)
		}
	case graph.Concat:
		return b.concat(n)
	}
	if act := activationOf(n); act != nil {
		return true, b.lookUp(n, act)
	}
	return false, nil
}

// lacksRange reports whether n is a convolution or dense layer with an operand or a result
// of unknown range. The layer then stays float32. An unknown range of the model's input is
// an error instead, since every layer depends on it.
func (b *builder) lacksRange(n *graph.Node) bool {
	if !b.takesProduct(n) || slices.Contains(b.From.Inputs, n.In[0]) {
		return false
	}
	_, isBytes := b.bytes[n.In[0]]
	_, known := b.ranges[n.In[0]]
	return !isBytes && !known || !b.hasRange(n) && !b.staysFloat(n.Out[0])
}

// hasRange reports whether the range of n's result is known. A node that only moves bytes
// needs no range.
func (b *builder) hasRange(n *graph.Node) bool {
	v := n.Out[0]
	if i, ok := bounded(b.From, b.users, v); ok && !b.remains(b.From.NodeName(&b.From.Nodes[i])) {
		v = b.From.Nodes[i].Out[0]
	}
	_, ok := b.ranges[v]
	return ok || onlyMoves(n.Op)
}

func shapeOf(f *graph.Function, v graph.Value) string { return fmt.Sprint(f.Values[v].Type.Shape) }

// result returns the value that replaces n's result, and its bounds. If an activation that can be
// merged follows n, the value is the activation's result.
func (b *builder) result(n *graph.Node) (graph.Value, Range) {
	v := n.Out[0]
	if i, ok := bounded(b.From, b.users, v); ok && !b.remains(b.From.NodeName(&b.From.Nodes[i])) {
		next := &b.From.Nodes[i]
		b.done[i] = true
		return next.Out[0], activationOf(next).bounds
	}
	return v, unbounded
}

// bounded returns the node that bounds v, if it is the only reader of v.
func bounded(f *graph.Function, users [][]int, v graph.Value) (node int, ok bool) {
	isOutput := slices.ContainsFunc(f.Outputs, func(o graph.Output) bool { return o.Value == v })
	if len(users[v]) != 1 || isOutput {
		return 0, false
	}
	i := users[v][0]
	return i, slices.Contains([]graph.Op{graph.Relu, graph.Relu6, graph.Clip}, f.Nodes[i].Op)
}

// store adds a node that computes the bytes of v, under the name of the node that it replaces.
func (b *builder) store(op graph.Op, v graph.Value, s scale, operands []graph.Value, attrs graph.Attrs) {
	q := b.Builder.Node(op, b.From.NodeName(&b.From.Nodes[b.index]), op.Trim(attrs), operands...)
	if len(q) == 0 {
		return
	}
	b.bytes[v] = byteMap{value: q[0], scale: s}
}

// attrsOf returns the attributes of the node with these keys, and the zero, min and max of a scale
// with these bounds.
func attrsOf(n *graph.Node, s scale, bounds Range, keys ...string) graph.Attrs {
	var attrs graph.Attrs
	for _, a := range n.Attrs {
		if slices.Contains(keys, a.Key) {
			attrs = attrs.With(a.Key, a.Val)
		}
	}
	least, most := s.bounds(bounds)
	return attrs.With("zero", s.zero).With("min", least).With("max", most)
}
