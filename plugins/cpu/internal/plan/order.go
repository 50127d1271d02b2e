package plan

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/fusion"
	"github.com/bnctl/bnctl/tensor"
)

// Images are stored channels last (run.Value). Sequences are not: the operands and results of
// matrix products, and of dense layers with leading axes, are stored in the order of their shape.
// The same holds for all other values of the function unless an operation needs them channels last:
//
// 	conv [C,H,W]  ->  transpose [H,W,C]  ->  dense  ->  dense  ->  transpose [C,H,W]  ->  add
// 	 H W C             H W C                  H W O     H W C       H W C
//
// So a transposition between both kinds copies contiguous elements. A detector ends in the same
// way, without a dense layer: its maps become rows of boxes, [B,H,W] and then [H*W,B], which have
// the same order in memory. The transposition need not even copy them (operations.moved).

// inShape are the operations that need the order of the shape.
var inShape = []graph.Op{graph.Dense, graph.DenseGradInput, graph.DenseGradWeight, graph.MatMul}

// anyOrder are the operations that address each operand by its strides, whatever its layout.
var anyOrder = []graph.Op{graph.Reshape, graph.Transpose, graph.Slice, graph.SliceGrad, graph.Concat,
	graph.Pad, graph.BroadcastTo, graph.ReduceSum, graph.ReduceMean, graph.ReduceMax, graph.ReduceMin,
	graph.SumRows}

// alike are the operations of anyOrder that copy parts of their operands. The result has the same layout,
// so that elements stay neighbours.
var alike = []graph.Op{graph.Slice, graph.SliceGrad, graph.Concat, graph.Pad}

// oneOrder are operations for which all operands and results have one shape and must have the same layout.
// Any layout is possible.
var oneOrder = []graph.Op{graph.Relu, graph.Relu6, graph.LeakyRelu, graph.Elu, graph.Sigmoid,
	graph.HardSigmoid, graph.Silu, graph.HardSwish, graph.Tanh, graph.Softplus, graph.Clip, graph.Affine,
	graph.Exp, graph.Log, graph.Sqrt, graph.ActivationGrad, graph.Dropout, graph.Softmax, graph.LogSoftmax,
	graph.SoftmaxGrad, graph.LogSoftmaxGrad, graph.Add, graph.Sub, graph.Mul, graph.Div, graph.Erf, graph.Gelu,
	graph.GeluTanh, graph.Mish, graph.Max, graph.Min, graph.Pow, graph.Compare, graph.Where, graph.Round,
	graph.LayerNorm, graph.LayerNormGrad}

// orders decides the memory layout of the values of a function.
type orders struct {
	fn     *graph.Function
	sameAs []graph.Value        // for each value: another value that must have the same layout, or itself
	last   map[graph.Value]bool // for each value that others refer to: whether its channels are last
}

// order decides the layout of values. It returns fn with copies of values that are needed in both orders,
// and the set of values that are stored in the order of their shape. If a result gets another number, order
// changes its key in fused.
func order(fn *graph.Function, fused map[graph.Value]fusion.Fused) (*graph.Function, map[graph.Value]bool) {
	o := &orders{fn: fn, last: map[graph.Value]bool{}}
	shuffles := func(n *graph.Node) bool { return len(n.Out) > 0 && fused[n.Out[0]].Groups > 0 }
	helps := func(n graph.Node) bool { return o.wants(&n) || !shuffles(&n) && o.turns(&n) }
	if !slices.ContainsFunc(fn.Nodes, helps) {
		return fn, nil
	}
	for v := range fn.Values {
		o.sameAs = append(o.sameAs, graph.Value(v))
	}
	for i := range fn.Nodes {
		n := &fn.Nodes[i]
		o.note(n, shuffles(n))
	}
	return o.copied(fused)
}

// wants reports whether a node needs its operands and results in the order of the shape.
func (o *orders) wants(n *graph.Node) bool {
	return slices.Contains(inShape, n.Op) && (n.Op == graph.MatMul || n.Int("leading") > 0)
}

// turns reports whether a node changes which layout is best: its result should have another layout than its
// operand. This is so for a transposition, and for a reshape that changes the first axis.
func (o *orders) turns(n *graph.Node) bool {
	if n.Op != graph.Transpose && n.Op != graph.Reshape || !o.ordered(n.In[0]) || !o.ordered(n.Out[0]) {
		return false
	}
	x, y := o.fn.Values[n.In[0]].Type.Shape, o.fn.Values[n.Out[0]].Type.Shape
	return n.Op == graph.Transpose || x[0] != y[0]
}

// ordered reports whether v may be stored channels last: it is rows of float32 with two axes or more.
func (o *orders) ordered(v graph.Value) bool {
	if v == graph.None {
		return false
	}
	t := o.fn.Values[v].Type
	return t.Kind == graph.Rows && t.DType == tensor.F32 && len(t.Shape) > 1
}

// root returns the value that determines the layout of v.
func (o *orders) root(v graph.Value) graph.Value {
	for o.sameAs[v] != v {
		o.sameAs[v] = o.sameAs[o.sameAs[v]]
		v = o.sameAs[v]
	}
	return v
}

// join records that two values have the same layout.
func (o *orders) join(v, w graph.Value) {
	a, b := o.root(v), o.root(w)
	o.sameAs[b] = a
	o.last[a] = o.last[a] || o.last[b]
}

// note records which layouts a node needs for its operands and results. A node that shuffles channels needs
// channels last.
func (o *orders) note(n *graph.Node, shuffles bool) {
	in := n.In
	if slices.Contains(inShape, n.Op) {
		in = in[2:] // also the value that an epilogue adds, but not the operands before it
	}
	for _, v := range slices.Concat(in, n.Out) {
		switch {
		case !o.ordered(v):
		case shuffles:
			o.last[o.root(v)] = true
		case slices.Contains(alike, n.Op) || n.Op == graph.Reshape && o.ordered(n.In[0]) && !o.turns(n):
			o.join(n.Out[0], v)
		case slices.Contains(anyOrder, n.Op):
		case !slices.Contains(oneOrder, n.Op) && !slices.Contains(inShape, n.Op):
			o.last[o.root(v)] = true
		case o.ordered(n.Out[0]) && slices.Equal(o.fn.Values[v].Type.Shape, o.fn.Values[n.Out[0]].Type.Shape):
			o.join(n.Out[0], v)
		}
	}
}

// copied inserts copies of values before nodes that need them in another order.
func (o *orders) copied(fused map[graph.Value]fusion.Fused) (*graph.Function, map[graph.Value]bool) {
	inOrder := map[graph.Value]bool{}
	for v := range o.fn.Values {
		if v := graph.Value(v); o.ordered(v) && !o.last[o.root(v)] {
			inOrder[v] = true
		}
	}
	out := *o.fn
	out.Values, out.Nodes = slices.Clone(o.fn.Values), nil
	twin := func(v graph.Value) graph.Value {
		out.Values = append(out.Values, graph.Variable{Name: o.fn.Values[v].Name + " in order",
			Type: o.fn.Values[v].Type})
		inOrder[graph.Value(len(out.Values)-1)] = true
		return graph.Value(len(out.Values) - 1)
	}
	same := func(from, to graph.Value) graph.Node {
		return graph.Node{Op: graph.Reshape, In: []graph.Value{from}, Out: []graph.Value{to},
			Attrs: graph.Attrs{}.With("shape", o.fn.Values[min(from, to)].Type.Shape)}
	}
	for _, n := range o.fn.Nodes {
		if !o.wants(&n) {
			out.Nodes = append(out.Nodes, n)
			continue
		}
		n.In, n.Out = slices.Clone(n.In), slices.Clone(n.Out)
		for i, v := range n.In {
			if o.ordered(v) && !inOrder[v] {
				n.In[i] = twin(v)
				out.Nodes = append(out.Nodes, same(v, n.In[i]))
			}
		}
		y := n.Out[0]
		if turned := o.ordered(y) && !inOrder[y]; turned {
			n.Out[0] = twin(y)
			f, ok := fused[y]
			if !ok {
				f.Given = y
			}
			fused[n.Out[0]] = f
		}
		if out.Nodes = append(out.Nodes, n); n.Out[0] != y {
			out.Nodes = append(out.Nodes, same(n.Out[0], y))
		}
	}
	return &out, inOrder
}
