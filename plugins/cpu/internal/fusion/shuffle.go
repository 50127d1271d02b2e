package fusion

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// MostShuffled is the maximum number of groups of channels that a node may interleave.
const MostShuffled = 4

// shuffle fuses nodes that reorder channels: a transposition, node i, between two reshapes, as in
// ShuffleNet, or a take, node i, of all channels. They become one node if they interleave the channels of
// groups, or separate interleaved channels into groups:
//
//	[C, H, W]  reshape  [groups, C/groups, H, W]  transpose  [C/groups, groups, H, W]  reshape  [C, H, W]
//	[C, H, W]  reshape  [C/groups, groups, H, W]  transpose  [groups, C/groups, H, W]  reshape  [C, H, W]
func (u *fuser) shuffle(i int) {
	to, x, groups := i, graph.None, 0
	if n := u.fn.Nodes[i]; n.Op == graph.Take {
		x, groups = n.In[0], u.taken(&n)
	} else if to, x, groups = u.transposed(i); to < 0 {
		return
	}
	if !u.rows(x) || groups == 0 {
		return
	}
	c := u.fn.Values[x].Type.Shape[0]
	switch {
	case groups <= MostShuffled:
		u.byTurns(to, x, groups)
	case c/groups <= MostShuffled:
		u.apart(to, x, c/groups)
	default:
		return
	}
	if to != i {
		u.gone[u.maker[u.fn.Nodes[i].In[0]]], u.gone[i] = true, true
	}
}

// transposed examines node i. If it is a transposition between two reshapes, it returns the index of the
// second reshape, the operand of the first one (x), and the number of interleaved groups of channels. For
// any other node, second is -1.
func (u *fuser) transposed(i int) (second int, x graph.Value, groups int) {
	n := u.fn.Nodes[i]
	from, second := n.In[0], u.reader(n.Out[0])
	if second < 0 || !u.hasOneReader(from, graph.Reshape) || u.fn.Nodes[second].Op != graph.Reshape {
		return -1, graph.None, 0
	}
	x = u.fn.Nodes[u.maker[from]].In[0]
	split, shape := u.fn.Values[from].Type.Shape, u.fn.Values[x].Type.Shape
	if len(split) < 3 || !u.alike(x, u.fn.Nodes[second].Out[0]) || !u.rows(n.Out[0]) ||
		!slices.Equal(n.Ints("perm"), swapped(len(split))) || split[0] < 2 || split[1] < 2 ||
		shape[0] != split[0]*split[1] || !slices.Equal(shape[1:], split[2:]) {
		return -1, graph.None, 0
	}
	return second, x, split[0]
}

// taken returns the number of groups of channels that node n, a selection by indices, interleaves. It
// returns 0 if the node does anything else.
func (u *fuser) taken(n *graph.Node) int {
	index, shape := n.Ints("index"), u.fn.Values[n.In[0]].Type.Shape
	if n.Int("axis") != 0 || len(shape) < 2 || len(index) != shape[0] || len(index) < 4 || index[1] < 2 ||
		len(index)%index[1] != 0 {
		return 0
	}
	each := index[1] // channels of a group
	groups := len(index) / each
	for i, from := range index {
		if from != i%groups*each+i/groups {
			return 0
		}
	}
	return groups
}

// byTurns makes node i interleave the channels of groups of x. If a concatenation joins the
// groups, that node interleaves them instead.
func (u *fuser) byTurns(i int, x graph.Value, groups int) {
	y := u.fn.Nodes[i].Out[0]
	node, given := graph.Node{Op: graph.Transpose, In: []graph.Value{x}, Out: []graph.Value{y}}, y
	if u.hasOneReader(x, graph.Concat) && u.equalGroups(x, groups) {
		concat := u.maker[x]
		node.Op, node.In, node.Attrs = graph.Concat, u.fn.Nodes[concat].In, u.fn.Nodes[concat].Attrs
		given, u.gone[concat] = x, true
	}
	u.fn.Nodes[i], u.fused[y] = node, Fused{Given: given, Groups: groups}
}

// apart makes node i separate interleaved channels of x into groups: it becomes a
// concatenation of the channels of each group. Readers of channels of only one group read
// them from x instead.
func (u *fuser) apart(i int, x graph.Value, groups int) {
	y, shape := u.fn.Nodes[i].Out[0], u.fn.Values[x].Type.Shape
	each := shape[0] / groups
	u.uses[x]--
	for k := range u.fn.Nodes {
		n := &u.fn.Nodes[k]
		if n.Op != graph.Slice || n.In[0] != y || u.gone[k] || !u.ofChannels(n) {
			continue
		}
		begin, end := slices.Clone(n.Ints("begin")), slices.Clone(n.Ints("end"))
		group := begin[0] / each
		if (end[0]-1)/each != group {
			continue
		}
		step := slices.Repeat([]int{1}, len(shape))
		begin[0], end[0], step[0] = begin[0]%each*groups+group, (end[0]-1)%each*groups+group+1, groups
		*n = graph.Node{Op: graph.Slice, In: []graph.Value{x}, Out: n.Out,
			Attrs: graph.Attrs{}.With("begin", begin).With("end", end).With("step", step)}
		u.uses[x]++
		u.uses[y]--
	}
	if u.gone[i] = u.uses[y] == 0; u.gone[i] {
		return
	}
	regions := make([]Region, groups)
	for group := range regions {
		regions[group] = Region{make([]int, len(shape)), slices.Repeat([]int{1}, len(shape)), slices.Clone(shape)}
		regions[group].Begin[0], regions[group].Step[0], regions[group].Shape[0] = group, groups, each
	}
	u.fn.Nodes[i] = graph.Node{Op: graph.Concat, In: slices.Repeat([]graph.Value{x}, groups),
		Out: []graph.Value{y}, Attrs: graph.Attrs{}.With("axis", 0)}
	u.fused[y] = Fused{Given: y, Regions: regions}
	u.uses[x] += groups
}

// flatten changes a concatenation, node i. If its operands are concatenations along the same axis that
// nothing else reads, it directly concatenates their operands. Each part is then copied only once.
func (u *fuser) flatten(i int) {
	n := u.fn.Nodes[i]
	var in []graph.Value
	for _, v := range n.In {
		inner, whole := u.maker[v], !u.rows(v) || !u.hasOneReader(v, graph.Concat)
		if whole || u.fn.Nodes[inner].Int("axis") != n.Int("axis") || u.fused[v].Groups > 0 ||
			u.fused[v].Regions != nil || u.fused[n.Out[0]].Groups > 0 {
			in = append(in, v)
			continue
		}
		in = append(in, u.fn.Nodes[inner].In...)
		u.gone[inner] = true
	}
	u.fn.Nodes[i].In = in
}

// swapped returns the permutation that exchanges the first two of the given number of axes.
func swapped(axes int) (perm []int) {
	for i := range axes {
		perm = append(perm, i)
	}
	perm[0], perm[1] = 1, 0
	return perm
}

// reader returns the only node that reads v, or -1.
func (u *fuser) reader(v graph.Value) int {
	if u.uses[v] != 1 {
		return -1
	}
	return slices.IndexFunc(u.fn.Nodes, func(n graph.Node) bool { return slices.Contains(n.In, v) })
}

// equalGroups reports whether a concatenation computes v and joins the given number of groups with
// equal numbers of channels.
func (u *fuser) equalGroups(v graph.Value, groups int) bool {
	n := u.fn.Nodes[u.maker[v]]
	if n.Int("axis") != 0 || len(n.In) != groups {
		return false
	}
	return !slices.ContainsFunc(n.In, func(x graph.Value) bool {
		return !u.rows(x) || u.fn.Values[x].Type.Shape[0] != u.fn.Values[v].Type.Shape[0]/groups
	})
}
