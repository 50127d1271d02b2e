package graph

import (
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// normJoiner is a function with row norms that are written out as several nodes.
type normJoiner struct {
	f      *Function
	makers map[Value]*Node
	users  [][]int // readers of each value; outputs and updates count as one last node
}

// JoinNorms returns f with norms of each row that are written as their parts, as exporters do, as one
// operation each. state is the table of f.
func JoinNorms(f *Function, state []State) (*Function, error) {
	for _, rule := range []func(j *normJoiner, r *rewriter) bool{(*normJoiner).layerNorm,
		(*normJoiner).groupNorm, (*normJoiner).scale, (*normJoiner).bias, (*normJoiner).channelsFirst} {
		var err error
		if f, err = joinedBy(rule, f, state); err != nil {
			return f, err
		}
	}
	return f, nil
}

// joinedBy applies a rule to the nodes of f. It returns f without the nodes that the rule has
// replaced, or f itself if the rule has replaced nothing.
func joinedBy(rule func(j *normJoiner, r *rewriter) bool, f *Function, state []State) (*Function, error) {
	j := &normJoiner{f: f, makers: f.Makers(), users: f.Users()}
	for _, v := range f.results() {
		j.users[v] = append(j.users[v], len(f.Nodes))
	}
	some := false
	g, err := f.rewrite(&state, func(r *rewriter) {
		if rule(j, r) {
			some = true
			return
		}
		r.Copy(r.node)
	})
	if err != nil || !some {
		return f, err
	}
	return Prune(g, state)
}

// hasOneReader reports whether one node reads v, and nothing else does.
func (j *normJoiner) hasOneReader(v Value) bool { return len(j.users[v]) == 1 }

// made returns the node that makes v if its operation is op, and nil
// otherwise.
func (j *normJoiner) made(v Value, op Op) *Node {
	if n := j.makers[v]; n != nil && n.Op == op {
		return n
	}
	return nil
}

// layerNorm replaces (x - mean)/sqrt(variance + eps), written as several nodes, by a layer_norm:
//
//	mean = reduce_mean(x)   c = sub(x, mean)   s = sqrt(affine(reduce_mean(mul(c, c)), add=eps))   div(c, s)
func (j *normJoiner) layerNorm(r *rewriter) bool {
	if r.node.Op != Div {
		return false
	}
	root := j.made(r.node.In[1], Sqrt)
	if root == nil {
		return false
	}
	sum := j.made(root.In[0], Affine)
	if sum == nil || sum.Float("by") != 1 || !(sum.Float("add") >= 0) {
		return false
	}
	variance := j.made(sum.In[0], ReduceMean)
	if variance == nil {
		return false
	}
	squares := j.made(variance.In[0], Mul)
	if squares == nil || squares.In[0] != squares.In[1] {
		return false
	}
	axes := variance.Ints("axes")
	x, ok := j.centred(r.node.In[0], axes)
	y, same := j.centred(squares.In[0], axes)
	if !ok || !same || x != y || !variance.Bool("keep") || !neighbours(axes) {
		return false
	}
	r.last(LayerNorm, []Value{r.Value(x)}, "axes", axes, "eps", sum.Float("add"))
	return true
}

// centred returns x if v is x minus its mean over axes.
func (j *normJoiner) centred(v Value, axes []int) (x Value, ok bool) {
	n := j.made(v, Sub)
	if n == nil {
		return None, false
	}
	x = n.In[0]
	mean := j.made(n.In[1], ReduceMean)
	t := j.f.Values[x].Type
	ok = mean != nil && mean.In[0] == x && mean.Bool("keep") && slices.Equal(mean.Ints("axes"), axes) &&
		t.Kind == Rows && t.DType == tensor.F32
	return x, ok
}

func neighbours(axes []int) bool {
	return len(axes) > 0 && axes[len(axes)-1]-axes[0] == len(axes)-1
}

// groupNorm joins an instance norm over an added axis of groups, without scale and bias, to
// the group_norm of its operand. PyTorch exports group norms this way.
func (j *normJoiner) groupNorm(r *rewriter) bool {
	if r.node.Op != Reshape {
		return false
	}
	norm := j.made(r.node.In[0], GroupNorm)
	if norm == nil || len(norm.In) > 1 || !j.hasOneReader(norm.Out[0]) {
		return false
	}
	split := j.made(norm.In[0], Reshape)
	groups := norm.Int("groups")
	if split == nil || j.f.Values[norm.In[0]].Type.Shape[0] != groups {
		return false
	}
	shape := j.f.Values[split.In[0]].Type.Shape
	if !slices.Equal(shape, r.node.Ints("shape")) || shape[0]%groups != 0 {
		return false
	}
	r.last(GroupNorm, []Value{r.Value(split.In[0])}, "groups", groups, "eps", norm.Float("eps"))
	return true
}

// scale makes the factor after a layer_norm or a group_norm its scale, and bias makes the summand its bias.
func (j *normJoiner) scale(r *rewriter) bool { return j.absorb(r, Mul, 1) }

func (j *normJoiner) bias(r *rewriter) bool { return j.absorb(r, Add, 2) }

func (j *normJoiner) absorb(r *rewriter, op Op, operand int) bool {
	if r.node.Op != op {
		return false
	}
	for i, v := range r.node.In {
		if norm := j.made(v, GroupNorm); norm != nil && j.hasOneReader(v) && len(norm.In) <= operand {
			if w := j.perChannel(r.node.In[1-i], j.f.Values[v].Type.Shape); w != None {
				r.last(GroupNorm, withOperand(r, norm, operand, w), "groups", norm.Int("groups"),
					"eps", norm.Float("eps"))
				return true
			}
		}
		norm, w := j.made(v, LayerNorm), r.node.In[1-i]
		if norm == nil || !j.hasOneReader(v) || len(norm.In) > operand {
			continue
		}
		axes, shape := norm.Ints("axes"), j.f.Values[v].Type.Shape
		t := j.f.Values[w].Type
		if t.Kind != Whole || axes[0]+len(axes) != len(shape) || !slices.Equal(t.Shape, shape[axes[0]:]) {
			continue
		}
		r.last(LayerNorm, withOperand(r, norm, operand, w), "axes", axes, "eps", norm.Float("eps"))
		return true
	}
	return false
}

// withOperand returns the operands of a norm with w as an additional operand.
func withOperand(r *rewriter, norm *Node, operand int, w Value) []Value {
	operands := []Value{None, None, None}
	for k, old := range norm.In {
		operands[k] = r.Value(old)
	}
	operands[operand] = r.Value(w)
	return operands
}

// perChannel returns the values [C] that v repeats as [C,1,1] for rows of a shape, or None.
func (j *normJoiner) perChannel(v Value, shape []int) Value {
	n := j.made(v, Reshape)
	if n == nil || j.f.Values[v].Type.Kind != Whole {
		return None
	}
	from, to := j.f.Values[n.In[0]].Type.Shape, j.f.Values[v].Type.Shape
	each := append([]int{shape[0]}, slices.Repeat([]int{1}, len(shape)-1)...)
	if len(from) != 1 || !slices.Equal(to, each) {
		return None
	}
	return n.In[0]
}

// channelsFirst removes two transposes that cancel each other around a layer_norm. The norm is then over
// other axes.
func (j *normJoiner) channelsFirst(r *rewriter) bool {
	if r.node.Op != Transpose {
		return false
	}
	norm := j.made(r.node.In[0], LayerNorm)
	if norm == nil || !j.hasOneReader(norm.Out[0]) {
		return false
	}
	before := j.made(norm.In[0], Transpose)
	if before == nil {
		return false
	}
	perm, axes := before.Ints("perm"), norm.Ints("axes")
	for i, p := range r.node.Ints("perm") {
		if perm[p] != i {
			return false
		}
	}
	for i, a := range axes {
		axes[i] = perm[a]
	}
	if !slices.IsSorted(axes) || !neighbours(axes) {
		return false
	}
	operands := []Value{r.Value(before.In[0]), None, None}
	for k, old := range norm.In[1:] {
		operands[1+k] = r.Value(old)
	}
	r.last(LayerNorm, operands, "axes", axes, "eps", norm.Float("eps"))
	return true
}
