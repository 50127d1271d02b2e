package quantize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// takesProduct reports whether a node is a convolution or dense layer that has a form for
// bytes.
func (b *builder) takesProduct(n *graph.Node) bool {
	f := b.From
	if !isProduct(n.Op) || f.Values[n.In[1]].State == "" || n.Op == graph.Dense && n.Int("leading") > 0 {
		return false
	}
	return tensor.Count(f.Values[n.In[1]].Type.Shape[1:]) <= graph.MostTerms
}

// staysFloat reports whether v is never read as bytes. The layer that computes v then
// returns its sums as float32.
func (b *builder) staysFloat(v graph.Value) bool {
	return !slices.ContainsFunc(b.users[v], func(i int) bool {
		n := &b.From.Nodes[i]
		if b.remains(b.From.NodeName(n)) {
			return false
		}
		switch n.Op {
		case graph.Add, graph.Mul, graph.MaxPool, graph.AvgPool, graph.GlobalAvgPool, graph.ReduceMean,
			graph.Concat:
			return true
		case graph.Reshape, graph.Slice, graph.Transpose, graph.Take, graph.Pad:
			return !b.staysFloat(n.Out[0])
		}
		return b.takesProduct(n) || activationOf(n) != nil
	})
}

// product replaces a convolution or a dense layer by one on bytes.
func (b *builder) product(n *graph.Node) error {
	x, err := b.asByteMap(n.In[0])
	if err != nil {
		return err
	}
	v, bounds := b.result(n)
	float, s := v == n.Out[0] && b.staysFloat(v), scale{factor: 1}
	if !float {
		if s, err = b.scale(v); err != nil {
			return err
		}
	}
	name := b.From.Values[n.In[1]].State
	bias := (&statistics{model: b.model}).bias(b.From, n)
	from := layerInput{x.scale, b.channels[n.In[0]], x.divisors}
	q, err := quantizeWeights(b.model.State[name], bias, groups(n), from, byteMap{scale: s,
		divisors: b.divisors[v]})
	if err != nil {
		return err
	}
	in := append([]graph.Value{x.value}, b.weights(n, q, x.scale, s)...)
	op := graph.ConvInt8
	if n.Op == graph.Dense {
		op = graph.DenseInt8
	}
	attrs := attrsOf(n, s, bounds, "stride", "pad", "dilation", "groups").With("x_zero", x.scale.zero)
	layer := b.layerOf(n)
	layer.Bytes, layer.WeightNoise = q.weight.Count()+8*q.bias.Count(), q.noise
	layer.Expected, layer.expected = b.ownNoise(n, x, s, float)
	if float {
		b.To[v] = b.Builder.Op(op, b.From.Values[v].Name, in, pairs(attrs.With("zero", 0).With("min", 0).
			With("max", steps).With("float", true))...)
	} else {
		r := b.ranges[v]
		layer.Range, layer.value, layer.Equalised = &r, v, b.divisors[v] != nil
		b.store(op, v, s, in, attrs)
		b.bytes[v] = byteMap{b.bytes[v].value, s, b.divisors[v]}
	}
	b.layers = append(b.layers, layer)
	return b.Builder.Err()
}

// weights returns the weight, the bias and the factors of a convolution or dense layer as
// values. They are tensors that the template stores or, in a model for training, nodes make
// them from trained tensors.
func (b *builder) weights(n *graph.Node, q *weights, x, y scale) []graph.Value {
	name := b.From.Values[n.In[1]].State
	base := strings.TrimSuffix(name, ".weight")
	if !b.trains {
		return []graph.Value{b.declare(name, q.weight, graph.Weight), b.declare(base+".bias", q.bias, graph.Bias),
			b.declare(base+".by", q.factor, graph.Constant)}
	}
	bias := graph.None
	if len(n.In) > 2 {
		bias = n.In[2]
	}
	made := b.Builder.Node(graph.QuantizeWeight, b.Builder.UniqueName(b.From.NodeName(n)+".int8"),
		graph.Attrs{}.With("scale", y.factor).With("x_scale", x.factor),
		b.declareTrained(n.In[1], name, q.trained, graph.Weight),
		b.declareTrained(bias, base+".bias", q.trainedBias, graph.Bias))
	return made[:min(len(made), 3)]
}

// declareTrained declares a trained tensor. It takes the place of the stored tensor that v reads,
// if v reads one.
func (b *builder) declareTrained(v graph.Value, name string, t tensor.Tensor, role graph.Role) graph.Value {
	made := b.declare(name, t, role)
	if v != graph.None {
		from := b.From.Values[v].State
		if _, shared := b.names[from]; shared && b.plain {
			b.Builder.Fail(fmt.Errorf("several layers have the weights %s, and each would train its own", from))
		}
		b.names[from] = b.table[len(b.table)-1].Name
	}
	return made
}

// pairs returns attributes as alternating keys and values.
func pairs(attrs graph.Attrs) (list []any) {
	for _, a := range attrs {
		list = append(list, a.Key, a.Val)
	}
	return list
}

func (b *builder) add(n *graph.Node) error {
	x, y := b.bytes[n.In[0]], b.bytes[n.In[1]]
	v, bounds := b.result(n)
	s, err := b.scale(v)
	if err != nil {
		return err
	}
	b.store(graph.AddInt8, v, s, []graph.Value{x.value, y.value}, attrsOf(n, s, bounds).
		With("a_zero", x.scale.zero).With("b_zero", y.scale.zero).
		With("a_by", float32(float64(x.scale.factor)/float64(s.factor))).
		With("b_by", float32(float64(y.scale.factor)/float64(s.factor))))
	return b.Builder.Err()
}

// factors returns the operands of a product of two feature maps. The second may have one
// number for each channel. ok is false if the product has no form for bytes.
func factors(f *graph.Function, n *graph.Node) (a, gate graph.Value, ok bool) {
	for _, in := range [][2]graph.Value{{n.In[0], n.In[1]}, {n.In[1], n.In[0]}} {
		x, y := f.Values[in[0]].Type.Shape, f.Values[in[1]].Type.Shape
		if slices.Equal(x, y) || len(x) == len(y) && y[0] == x[0] && tensor.Count(y) == y[0] {
			return in[0], in[1], true
		}
	}
	return 0, 0, false
}

func (b *builder) mul(n *graph.Node, a, gate graph.Value) error {
	x, y := b.bytes[a], b.bytes[gate]
	v, bounds := b.result(n)
	s, err := b.scale(v)
	if err != nil {
		return err
	}
	b.store(graph.MulInt8, v, s, []graph.Value{x.value, y.value}, attrsOf(n, s, bounds).
		With("a_zero", x.scale.zero).With("b_zero", y.scale.zero).
		With("by", float32(float64(x.scale.factor)*float64(y.scale.factor)/float64(s.factor))))
	return b.Builder.Err()
}

// moved replaces a node that only moves numbers by the operation op on bytes. The scale
// stays the same.
func (b *builder) moved(n *graph.Node, op graph.Op) error {
	x := b.bytes[n.In[0]]
	b.store(op, n.Out[0], x.scale, []graph.Value{x.value}, n.Attrs)
	b.setDivisors(n.Out[0], x.divisors)
	return b.Builder.Err()
}

// pad pads bytes with the byte that represents 0.
func (b *builder) pad(n *graph.Node) error {
	x := b.bytes[n.In[0]]
	attrs := graph.Attrs{}.With("before", n.Ints("before")).With("after", n.Ints("after")).
		With("zero", x.scale.zero)
	b.store(graph.PadInt8, n.Out[0], x.scale, []graph.Value{x.value}, attrs)
	return b.Builder.Err()
}

// average replaces a pool, or a mean over height and width, by a pool on bytes.
func (b *builder) average(n *graph.Node) error {
	x, f := b.bytes[n.In[0]], b.From
	s, err := b.scale(n.Out[0])
	if err != nil {
		return err
	}
	attrs := n.Attrs
	if n.Op != graph.AvgPool {
		attrs = graph.Attrs{}.With("kernel", f.Values[n.In[0]].Type.Shape[1:])
	}
	attrs = attrs.With("by", float64(x.scale.factor)/float64(s.factor)).With("x_zero", x.scale.zero).
		With("zero", s.zero)
	v := n.Out[0]
	if shape := f.Values[v].Type.Shape; n.Op != graph.ReduceMean || len(shape) == 3 {
		b.store(graph.AvgPoolInt8, v, s, []graph.Value{x.value}, attrs)
		return b.Builder.Err()
	}
	name := b.Builder.UniqueName(f.Values[v].Name + ".mean")
	mean := b.Builder.Op(graph.AvgPoolInt8, name, []graph.Value{x.value}, pairs(attrs)...)
	b.store(graph.Reshape, v, s, []graph.Value{mean}, graph.Attrs{}.With("shape", f.Values[v].Type.Shape))
	return b.Builder.Err()
}

// lookup adds a table that applies f to bytes.
func (b *builder) lookup(name string, x byteMap, s scale, f func(float64) float64) byteMap {
	t := tensor.New(tensor.U8, steps+1)
	for q := range t.U8() {
		t.U8()[q] = s.byteOf(f(x.scale.number(q)))
	}
	table := b.declare(name+".table", t, graph.Constant)
	name = b.Builder.UniqueName(name)
	return byteMap{value: b.Builder.Op(graph.TableInt8, name, []graph.Value{x.value, table}), scale: s}
}

// lookUp replaces an activation by a table.
func (b *builder) lookUp(n *graph.Node, act *activation) error {
	v, x := n.Out[0], b.bytes[n.In[0]]
	if x.divisors != nil { // a relu, which commutes with divisors
		b.bytes[v] = b.lookup(b.From.Values[v].Name, x, x.scale, act.f)
		b.setDivisors(v, x.divisors)
		return nil
	}
	s, err := b.scale(v)
	if err == nil {
		b.bytes[v] = b.lookup(b.From.Values[v].Name, x, s, act.f)
	}
	return err
}
