package gpu

import (
	"slices"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// firstExtra is the index of an epilogue's first operand among the operands of a node. Nodes with epilogues
// have fewer other operands.
const firstExtra = 8

// rooted lists the operations with an epilogue.
var rooted = []graph.Op{graph.Conv, graph.Dense, graph.ConvTranspose, graph.ConvGradInput,
	graph.DenseGradInput, graph.MatMul, graph.Normalise, graph.BatchNorm}

// An epilogue has the element-wise nodes that a kernel applies to the results of a node before it stores
// them. The first link of a chain is the node itself.
type epilogue struct {
	links   []link
	chain   bool
	product graph.Value // result of the node before fusion
}

// A link is a node of an epilogue. operand is the index of the operand that the epilogue computes.
type link struct {
	*graph.Node
	operand int
	stored  bool // the value is stored before the step, because other nodes read it too
}

// other returns the second operand of a link, or None.
func (l link) other() graph.Value {
	if len(l.In) < 2 {
		return graph.None
	}
	return l.In[1-l.operand]
}

// others returns the second operands of all links.
func (t *epilogue) others() (list []graph.Value) {
	for _, l := range t.links {
		if o := l.other(); o != graph.None {
			list = append(list, o)
		}
	}
	return list
}

// fusion finds the nodes of a function that can be steps of epilogues.
type fusion struct {
	fn        *graph.Function
	uses      map[graph.Value]int
	made      map[graph.Value]int // node after which a value exists
	open      map[graph.Value]int // node of the epilogue that ends with the value
	epilogues map[int]*epilogue
	gone      map[int]bool
}

// fuse returns fn without the nodes of epilogues, and the epilogues by their results. The results of a node
// with an epilogue are the epilogue's result and the stored value. fuse changes the keys of norms to the new
// results.
func fuse(fn *graph.Function, norms map[graph.Value]class.Norm) (*graph.Function, map[graph.Value]*epilogue) {
	f := &fusion{fn, class.Readers(fn), map[graph.Value]int{}, map[graph.Value]int{}, map[int]*epilogue{},
		map[int]bool{}}
	for _, v := range fn.Inputs {
		f.made[v] = -1
	}
	for i := range fn.Nodes {
		f.add(i)
	}
	fused, epilogues := fn.Clone(), map[graph.Value]*epilogue{}
	for i, t := range f.epilogues {
		if t.chain && len(t.links) < 2 || len(t.links) == 0 {
			continue
		}
		n := &fused.Nodes[i]
		t.product = n.Out[0]
		*n = t.node(*n)
		epilogues[n.Out[0]] = t
		if norm, ok := norms[t.product]; ok {
			delete(norms, t.product)
			norms[n.Out[0]] = norm
		}
	}
	var nodes []graph.Node
	for i, n := range fused.Nodes {
		if !f.gone[i] {
			nodes = append(nodes, n)
		}
	}
	fused.Nodes = nodes
	return fused, epilogues
}

// node returns n with the operands and the results of its epilogue.
func (t *epilogue) node(n graph.Node) graph.Node {
	in := slices.Clone(n.In)
	for len(in) < firstExtra {
		in = append(in, graph.None)
	}
	out := []graph.Value{t.links[len(t.links)-1].Out[0]}
	for _, l := range t.links {
		if l.stored {
			out = append(out, l.In[l.operand])
		}
	}
	n.In, n.Out = append(in, t.others()...), out
	return n
}

// add considers node i.
func (f *fusion) add(i int) {
	n := &f.fn.Nodes[i]
	for _, v := range n.Out {
		f.made[v] = i
	}
	if slices.Contains(rooted, n.Op) {
		f.epilogues[i], f.open[n.Out[0]] = &epilogue{}, i
		return
	}
	if !isStep(n) {
		return
	}
	root, best := -1, link{}
	for k := range n.In {
		if r, ok := f.open[n.In[k]]; ok && r > root && f.extends(r, link{Node: n, operand: k}) {
			root, best = r, link{n, k, f.uses[n.In[k]] > 1}
		}
	}
	switch {
	case root >= 0:
		t := f.epilogues[root]
		t.links = append(t.links, best)
		f.gone[i], f.made[n.Out[0]], f.open[n.Out[0]] = true, root, root
		delete(f.open, n.In[best.operand])
	default:
		f.begin(i)
	}
}

// begin makes node i the beginning of a chain, if it can be one.
func (f *fusion) begin(i int) {
	n := &f.fn.Nodes[i]
	for k := range n.In {
		if l := (link{Node: n, operand: k}); f.passes(l) {
			f.epilogues[i], f.open[n.Out[0]] = &epilogue{links: []link{l}, chain: true}, i
			return
		}
	}
}

// extends reports whether a link can be added to the epilogue of node root.
func (f *fusion) extends(root int, l link) bool {
	t, o := f.epilogues[root], l.other()
	switch {
	case !f.passes(l), len(t.links) == maxSteps, !t.chain && !isShort(l.Node):
		return false
	case o != graph.None && (f.position(o) >= root || len(t.others()) == maxOperands):
		return false
	case f.uses[l.In[l.operand]] > 1:
		return !slices.ContainsFunc(t.links, func(l link) bool { return l.stored })
	}
	return true
}

// position returns the node after which a value exists, or -1 for inputs and state.
func (f *fusion) position(v graph.Value) int {
	if f.fn.Values[v].State != "" {
		return -1
	}
	return f.made[v]
}

// passes reports whether a link computes float32 element by element. The kernels must be able to index its
// second operand.
func (f *fusion) passes(l link) bool {
	x, y, o := f.fn.Values[l.In[l.operand]].Type, f.fn.Values[l.Out[0]].Type, l.other()
	if x.DType != tensor.F32 || y.DType != tensor.F32 || x.Kind != y.Kind || !slices.Equal(x.Shape, y.Shape) {
		return false
	}
	switch {
	case l.Op == graph.ActivationGrad && l.operand != 1, l.Op == graph.Prelu && l.operand != 0:
		return false
	case o == graph.None:
		return true
	case o == l.In[l.operand]:
		return false
	}
	other := f.fn.Values[o].Type
	if l.Op == graph.Prelu {
		return other.DType == tensor.F32
	}
	_, _, ok := repeats(other.Shape, y.Shape)
	return ok && other.DType == tensor.F32
}

// repeats returns divisor and modulus: element e of a value of shape to belongs to element e/divisor%modulus
// of a value of shape from, or to element e if modulus is 0. ok is false if both do not exist.
func repeats(from, to []int) (divisor, modulus int, ok bool) {
	if slices.Equal(from, to) {
		return 1, 0, true
	}
	divisor, modulus = 1, 1
	for i, ended := len(to)-1, false; i >= 0; i-- {
		n := 1
		if k := i - (len(to) - len(from)); k >= 0 {
			n = from[k]
		}
		switch {
		case to[i] == 1:
		case n == to[i] && ended:
			return 0, 0, false
		case n == to[i]:
			modulus *= n
		case modulus > 1:
			ended = true
		default:
			divisor *= to[i]
		}
	}
	return divisor, modulus, true
}
