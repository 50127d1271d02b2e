package graph

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// Gradient appends to b the nodes that compute the gradients of the seeded values with
// respect to wrt (reverse mode), and returns them by value of wrt. A value without
// influence on a seeded value is absent from the result.
//
// A seed is the gradient of its value and has the value's type. The result of softmax_xent
// is special: its seed is the whole f32[] value 1/denominator.
//
// The gradient of a rows value is rows. The gradient of a whole value (a weight) is of kind
// replica: it has the contribution of every replica, which an all_reduce sums to a whole
// value. The gradients of gamma and beta of a normalise over the batch are whole already,
// because its backward pass reduces their sums.
//
// Int8 operations round, and their gradients pass straight through rounding: see grad_int8.go.
//
// Contributions to one value are added in the order of the nodes from last to first. Nodes
// are named after the node of the forward pass: conv1.dx, conv1.dw, bn1.dgamma.
func Gradient(b *Builder, seeds map[Value]Value, wrt []Value) (map[Value]Value, error) {
	if b.err != nil {
		return nil, b.err
	}
	g := newGradient(b, wrt)
	g.seed(seeds)
	for i := len(g.forward.Nodes) - 1; i >= 0 && b.err == nil; i-- {
		g.differentiate(i)
	}
	out := map[Value]Value{}
	for _, v := range wrt {
		if d := g.sum(v); d != None {
			out[v] = d
		}
	}
	return out, b.err
}

// gradRule adds, for the node g.node and the gradient dy of its result, the gradients of
// the operands that g needs.
type gradRule func(g *gradient, dy Value)

type gradient struct {
	b       *Builder
	forward Function         // the function before nodes are added: the nodes of b move as it grows
	depends []bool           // whether each value of forward depends on wrt
	maker   []int            // the node that makes each value of forward, or -1
	terms   map[Value][]term // the contributions so far to the gradient of each value
	node    *Node            // the node being differentiated
	nodePos int
}

func newGradient(b *Builder, wrt []Value) *gradient {
	g := &gradient{b: b, forward: *b.fn, terms: map[Value][]term{}}
	g.depends = make([]bool, len(g.forward.Values))
	g.maker = slices.Repeat([]int{-1}, len(g.forward.Values))
	for _, v := range wrt {
		t := b.Type(v)
		if t.DType != tensor.F32 && t.DType != tensor.F64 {
			b.fail("gradient with respect to %s, which is %v: want f32 or f64", g.forward.Values[v].Name, t)
		}
		g.depends[v] = true
	}
	for i := range g.forward.Nodes {
		n := &g.forward.Nodes[i]
		needed := slices.ContainsFunc(n.In, func(v Value) bool { return v != None && g.depends[v] })
		for _, v := range n.Out {
			g.maker[v], g.depends[v] = i, g.depends[v] || needed
		}
	}
	return g
}

func (g *gradient) seed(seeds map[Value]Value) {
	for _, v := range slices.Sorted(maps.Keys(seeds)) {
		want := g.b.Type(v)
		if i := g.maker[v]; i >= 0 && g.forward.Nodes[i].Op == SoftmaxXent {
			want = Type{Whole, tensor.F32, nil}
		}
		if got := g.b.Type(seeds[v]); !equalType(got, want) {
			g.b.fail("the seed of %s is %v, want %v", g.forward.Values[v].Name, got, want)
		}
		g.terms[v] = []term{{value: seeds[v]}}
	}
}

// differentiate applies the rule of node i if a gradient has reached its result.
func (g *gradient) differentiate(i int) {
	g.node, g.nodePos = &g.forward.Nodes[i], i
	if len(g.node.Out) == 0 || !g.depends[g.node.Out[0]] {
		return
	}
	dy := g.sum(g.node.Out[0])
	if dy == None {
		return
	}
	rule := g.node.Op.row().grad
	if rule == nil {
		rule = g.node.Op.row().straight
	}
	if rule == nil {
		g.fail("it has no derivative")
		return
	}
	// All nodes before this one compute whole values from whole values alone,
	// so the gradient has to be whole, too.
	if g.b.Type(g.node.Out[0]).Kind == Whole && g.b.Type(dy).Kind == Replica {
		dy = g.op(AllReduce, "dy.sum", nil, dy)
	}
	rule(g, dy)
}

func (g *gradient) fail(format string, args ...any) Value {
	return g.b.fail("gradient of %s: %s", g.forward.title(g.nodePos), fmt.Sprintf(format, args...))
}

// sum returns the gradient of v from all contributions so far, or None.
func (g *gradient) sum(v Value) Value {
	if len(g.terms[v]) == 0 {
		return None
	}
	name := g.forward.Values[v].Name
	if g.forward.Values[v].State != "" {
		name = g.forward.Values[v].State // the name of the state tensor has no @
	}
	terms := g.contributions(v, name)
	total := terms[0]
	for _, p := range terms[1:] {
		total, p = g.alike(name, total, p)
		total = g.b.Op(Add, g.b.UniqueName(name+".dy"), []Value{total, p})
	}
	g.terms[v] = []term{{value: total}}
	return total
}

// alike makes both gradients whole if one of them is whole. The gradient of a whole value may or may not
// have been summed over replicas yet.
func (g *gradient) alike(name string, x, y Value) (Value, Value) {
	reduce := func(v, other Value) Value {
		if g.b.Type(v).Kind == Replica && g.b.Type(other).Kind == Whole {
			return g.b.Op(AllReduce, g.b.UniqueName(name+".dy.sum"), []Value{v})
		}
		return v
	}
	return reduce(x, y), reduce(y, x)
}

// needs reports whether the gradient of operand i is requested.
func (g *gradient) needs(i int) bool {
	return i < len(g.node.In) && g.node.In[i] != None && g.depends[g.node.In[i]]
}

// give adds dx to the gradient of operand i.
func (g *gradient) give(i int, dx Value) { g.giveTerm(i, term{value: dx}) }

func (g *gradient) giveTerm(i int, t term) {
	v := g.node.In[i]
	if g.b.Type(v).Kind == Replica {
		g.fail("operand %d is %v, and gradients do not pass through values of replicas", i, g.b.Type(v))
		return
	}
	g.terms[v] = append(g.terms[v], t)
}

func (g *gradient) shape(v Value) []int { return g.b.Type(v).Shape }

// op adds a node named after the node that is differentiated.
func (g *gradient) op(op Op, suffix string, attrs Attrs, operands ...Value) Value {
	name := g.b.UniqueName(g.forward.Values[g.node.Out[0]].Name + "." + suffix)
	if out := g.b.Node(op, name, attrs, operands...); len(out) > 0 {
		return out[0]
	}
	return None
}
