package fusion

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Fused describes the work of later nodes that were fused into a node. Their operands were appended to the
// operands of the node: first the operands of a batch norm, then the value to add.
type Fused struct {
	Given graph.Value // the result of the node in the original function
	Norm  *class.Norm // batch norm folded into the weights of a product, or nil
	Plus  bool        // a value is added to the result
	Relu  bool        // the result is limited to the range from 0 to Most
	Most  float32
	// Groups is the number of groups of channels that a transposition or a concatenation interleaves;
	// 0: no interleaving.
	Groups  int
	Regions []Region // the parts of its operands that a concatenation reads; nil: it reads whole operands
}

// Fuse returns fn with fewer nodes. Batch norms become part of the products before them (class.Fold). The
// product of a value and its gate becomes one node, and so does a shuffle of channels. An addition or an
// activation becomes part of the product or normalisation before it, if nothing else reads that. The
// results then have the same bits as with separate nodes. The map has the fused work of each node. Its key
// is the result of the last node that was fused into it.
func Fuse(fn *graph.Function) (*graph.Function, map[graph.Value]Fused) {
	fn, norms := class.Fold(fn)
	u := newFuser(fn)
	for v, n := range norms {
		u.fused[v] = Fused{Given: n.Product, Norm: &n}
	}
	for i, n := range fn.Nodes {
		switch n.Op {
		case graph.Mul:
			u.gated(i)
		case graph.Transpose, graph.Take:
			u.shuffle(i)
		}
	}
	for i, n := range u.fn.Nodes {
		if n.Op == graph.Concat && !u.gone[i] && u.fused[n.Out[0]].Regions == nil {
			u.flatten(i)
			u.regions(i)
		}
	}
	for _, want := range [][]graph.Op{{graph.Relu, graph.Relu6}, {graph.Add}} {
		for i, n := range fn.Nodes {
			if slices.Contains(want, n.Op) && !u.gone[i] {
				u.node(i)
			}
		}
	}
	return u.result(), u.fused
}

// withEpilogue are operations with kernels that can add a value to their results, and apply a relu or
// relu6, before they write them.
var withEpilogue = append([]graph.Op{graph.Normalise, graph.BatchNorm}, class.Folded...)

// fuser is the state of fuse.
type fuser struct {
	fn    *graph.Function
	maker map[graph.Value]int // the node that makes a value
	uses  map[graph.Value]int
	gone  map[int]bool // nodes that were fused into others

	fused map[graph.Value]Fused
}

func newFuser(fn *graph.Function) *fuser {
	u := &fuser{fn: fn.Clone(), maker: map[graph.Value]int{}, uses: map[graph.Value]int{}, gone: map[int]bool{},
		fused: map[graph.Value]Fused{}}
	for i, n := range fn.Nodes {
		for _, v := range n.Out {
			u.maker[v] = i
		}
		for _, v := range n.In {
			u.uses[v]++
		}
	}
	for _, o := range fn.Outputs {
		u.uses[o.Value] += 2
	}
	for _, o := range fn.Updates {
		u.uses[o.Value] += 2
	}
	return u
}

// result returns the function without the nodes that were fused into others.
func (u *fuser) result() *graph.Function {
	var nodes []graph.Node
	for i, n := range u.fn.Nodes {
		if !u.gone[i] {
			nodes = append(nodes, n)
		}
	}
	u.fn.Nodes = nodes
	return u.fn
}

// gated replaces a gate and the product of x with this gate by one node, for example sigmoid and mul by
// silu. The gate must have no other reader.
func (u *fuser) gated(i int) {
	for k, x := range u.fn.Nodes[i].In {
		gate := u.fn.Nodes[i].In[1-k]
		if !u.rows(x) || !u.hasOneReader(gate, graph.Sigmoid, graph.HardSigmoid) {
			continue
		}
		if op := graph.Gated(x, &u.fn.Nodes[u.maker[gate]]); op != 0 {
			u.fn.Nodes[i] = graph.Node{Op: op, In: []graph.Value{x}, Out: u.fn.Nodes[i].Out}
			u.gone[u.maker[gate]] = true
			u.uses[x]--
			return
		}
	}
}

// node tries to fuse node i, an addition or activation, into the epilogue of the node that computes its
// operand.
func (u *fuser) node(i int) {
	n := u.fn.Nodes[i]
	source, plus := graph.None, graph.None
	var gone []int
	switch {
	case n.Op == graph.Add:
		source, plus = u.addends(i)
	case u.hasOneReader(n.In[0], graph.Add):
		add := u.maker[n.In[0]]
		source, plus = u.addends(add)
		gone = append(gone, add)
	case u.takesEpilogue(n.In[0]):
		source = n.In[0]
	}
	if source == graph.None {
		return
	}
	k := u.maker[source]
	node, j := u.fn.Nodes[k], u.fused[source]
	if j.Norm == nil {
		j.Given = source
	}
	switch n.Op {
	case graph.Relu:
		j.Relu, j.Most = true, float32(math.Inf(1))
	case graph.Relu6:
		j.Relu, j.Most = true, 6
	}
	node.Out = n.Out
	if plus != graph.None {
		j.Plus = true
		node.In = append(operandsOf(&node), plus)
	}
	u.fn.Nodes[i] = node
	u.fused[n.Out[0]] = j
	for _, g := range append(gone, k) {
		u.gone[g] = true
	}
}

// hasOneReader reports whether v is the only result of one of these operations, has only one reader, and is
// not fused into another node yet.
func (u *fuser) hasOneReader(v graph.Value, ops ...graph.Op) bool {
	i, ok := u.maker[v]
	return ok && u.uses[v] == 1 && !u.gone[i] && slices.Contains(ops, u.fn.Nodes[i].Op) &&
		len(u.fn.Nodes[i].Out) == 1 && u.fn.Nodes[i].Out[0] == v
}

// addends returns the operands of an addition. source is an operand that only the addition reads and that
// takesEpilogue accepts. If it accepts both operands, source is the one that is computed later. plus is the
// other operand. If takesEpilogue accepts neither, both results are graph.None.
func (u *fuser) addends(i int) (source, plus graph.Value) {
	a, b := u.fn.Nodes[i].In[0], u.fn.Nodes[i].In[1]
	if a == b || !u.alike(a, b) {
		return graph.None, graph.None
	}
	if u.maker[a] > u.maker[b] {
		a, b = b, a
	}
	switch {
	case u.takesEpilogue(b):
		return b, a
	case u.takesEpilogue(a):
		return a, b
	}
	return graph.None, graph.None
}

// takesEpilogue reports whether an operation in withEpilogue computes v, only one node reads v, and the
// operation has no epilogue yet.
func (u *fuser) takesEpilogue(v graph.Value) bool {
	return u.rows(v) && u.hasOneReader(v, withEpilogue...) && !u.fused[v].Plus && !u.fused[v].Relu
}

// rows reports whether v is rows of float32.
func (u *fuser) rows(v graph.Value) bool {
	return u.fn.Values[v].Type.Kind == graph.Rows && u.fn.Values[v].Type.DType == tensor.F32
}

// alike reports whether a and b are both rows of float32 and have the same shape.
func (u *fuser) alike(a, b graph.Value) bool {
	return u.rows(a) && u.rows(b) && slices.Equal(u.fn.Values[a].Type.Shape, u.fn.Values[b].Type.Shape)
}

// operandsOf returns the operands of a node so that others can be appended. If a product has no bias, it
// inserts graph.None in place of the bias.
func operandsOf(n *graph.Node) []graph.Value {
	in := slices.Clone(n.In)
	if slices.Contains(class.Folded, n.Op) && len(in) == 2 {
		in = append(in, graph.None)
	}
	return in
}
