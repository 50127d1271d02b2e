package graph

import (
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// JoinActivations returns g with activations that exporters write as several nodes joined to one
// operation, if nothing else reads the parts: silu, hard_swish, gelu of both forms, mish. One node
// then replaces two to nine nodes, and one node of the gradient replaces twice that number. Each
// operation is defined as these parts, so results do not change. number returns the number in a state
// tensor of one element. State that is no longer read is left out.
func (g *Graph) JoinActivations(number func(state string) (v float32, ok bool)) (*Graph, error) {
	f := g.Main
	j := &joiner{f, f.Makers(), f.Users(), number}
	for _, v := range f.results() {
		j.users[v] = append(j.users[v], len(f.Nodes))
	}
	joined, table := false, g.State
	main, err := f.rewrite(&table, func(r *rewriter) {
		op, x, last := j.joined(r.node)
		switch {
		case op == 0 || f.Values[x].Type.DType != tensor.F32:
			r.Copy(r.node)
			return
		case last:
			r.last(op, []Value{r.Value(x)}, "halve_last", true)
		default:
			r.last(op, []Value{r.Value(x)})
		}
		joined = true
	})
	if err == nil && joined {
		main, err = Prune(main, table)
	}
	if err != nil || !joined {
		return g, err
	}
	return &Graph{Name: g.Name, Main: main, State: stillRead(g.State, f, main)}, nil
}

// stillRead returns the state without the tensors that only the previous function reads, and not the current
// one.
func stillRead(state []State, previous, current *Function) []State {
	was, is := reads(previous), reads(current)
	return slices.DeleteFunc(slices.Clone(state), func(s State) bool { return was[s.Name] && !is[s.Name] })
}

// joiner finds activations in a function.
type joiner struct {
	f      *Function
	makers map[Value]*Node
	users  [][]int
	number func(state string) (float32, bool)
}

// joined returns the operation whose last part is n, and its operand, or 0. last reports that n
// multiplies by a half, so that the half comes last.
func (j *joiner) joined(n *Node) (op Op, x Value, last bool) {
	if j.is(n, Mul) {
		for i, x := range n.In {
			gate := j.singleUse(n.In[1-i])
			if op := Gated(x, gate); op != 0 {
				return op, x, false
			}
			if j.is(gate, Tanh) && j.isOperation(gate, Softplus, x) {
				return Mish, x, false
			}
			if half := j.singleUse(x); affine(half, 0.5, 0) {
				if op := j.geluGate(half.In[0], gate); op != 0 { // (0.5*x) * (1 + ...)
					return op, half.In[0], false
				}
			}
			if affine(gate, 0.5, 0) { // x * (0.5*(1 + ...)), exactly
				if op := j.geluGate(x, j.singleUse(gate.In[0])); op != 0 {
					return op, x, false
				}
			}
		}
	}
	if product := j.first(n, 0.5, 0); j.is(product, Mul) { // (x * (1 + ...)) * 0.5
		for i, x := range product.In {
			if op := j.geluGate(x, j.singleUse(product.In[1-i])); op != 0 {
				return op, x, true
			}
		}
	}
	return 0, None, false
}

// geluGate returns the form of gelu of x that has this gate, or 0.
func (j *joiner) geluGate(x Value, gate *Node) Op {
	of := j.first(gate, 1, 1)
	switch {
	case j.is(of, Erf):
		if over := j.singleUse(of.In[0]); j.is(over, Div) && over.In[0] == x && j.holds(over.In[1], sqrt2) &&
			slices.Equal(j.f.Values[over.Out[0]].Type.Shape, j.f.Values[x].Type.Shape) {
			return Gelu
		}
	case j.is(of, Tanh):
		sum := j.first(j.singleUse(of.In[0]), geluScale, 0)
		if j.is(sum, Add) && (j.isCube(sum.In[0], x, sum.In[1]) || j.isCube(sum.In[1], x, sum.In[0])) {
			return GeluTanh
		}
	}
	return 0
}

// The numbers of gelu.
const sqrt2, geluScale, geluCube float32 = 1.4142135623730951, 0.7978845608028654, 0.044715

// isCube reports whether v is 0.044715 * x^3, and other is x.
func (j *joiner) isCube(v, x, other Value) bool {
	cube := j.first(j.singleUse(v), geluCube, 0)
	if other != x || !j.is(cube, Mul) {
		return false
	}
	for i, v := range cube.In {
		if square := j.singleUse(cube.In[1-i]); v == x && j.is(square, Mul) && square.In[0] == x &&
			square.In[1] == x {
			return true
		}
	}
	return false
}

// singleUse returns the node that makes v, if exactly one node reads v.
func (j *joiner) singleUse(v Value) *Node {
	if len(j.users[v]) != 1 {
		return nil
	}
	return j.makers[v]
}

// is reports whether n is a node of an operation.
func (j *joiner) is(n *Node, op Op) bool { return n != nil && n.Op == op }

// isOperation reports whether the operand of n is the result of an operation on x, and nothing else
// reads it.
func (j *joiner) isOperation(n *Node, op Op, x Value) bool {
	inner := j.singleUse(n.In[0])
	return j.is(inner, op) && inner.In[0] == x
}

// affine reports whether n computes factor*x + add with these two numbers.
func affine(n *Node, factor, add float32) bool {
	return n != nil && n.Op == Affine && float32(n.Float("by")) == factor && float32(n.Float("add")) == add
}

// first returns the node that makes the operand of n, if n computes factor*x + add with these two numbers.
func (j *joiner) first(n *Node, factor, add float32) *Node {
	if !affine(n, factor, add) {
		return nil
	}
	return j.singleUse(n.In[0])
}

// holds reports whether v reads a state tensor that has this number as
// its only element.
func (j *joiner) holds(v Value, want float32) bool {
	got, ok := j.number(j.f.Values[v].State)
	return ok && got == want
}
