package fusion

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// MostShuffled is how many groups of channels a node may shuffle.
const MostShuffled = 4

// shuffle makes one node of a transposition, node i, between two reshapes that lays the channels of groups
// by turns, as ShuffleNet does:
//
//	[C, H, W]  reshape  [groups, C/groups, H, W]  transpose  [C/groups, groups, H, W]  reshape  [C, H, W]
//
// If the groups are what a concatenation puts together, it is that node which lays them so.
func (u *fuser) shuffle(i int) {
	n := u.fn.Nodes[i]
	from, to := n.In[0], u.reader(n.Out[0])
	if to < 0 || !u.alone(from, graph.Reshape) || u.fn.Nodes[to].Op != graph.Reshape {
		return
	}
	x, y := u.fn.Nodes[u.made[from]].In[0], u.fn.Nodes[to].Out[0]
	split := u.fn.Values[from].Type.Shape
	if len(split) < 3 || !u.alike(x, y) || !u.rows(n.Out[0]) ||
		!slices.Equal(n.Ints("perm"), swapped(len(split))) {
		return
	}
	groups, shape := split[0], u.fn.Values[x].Type.Shape
	if groups < 2 || groups > MostShuffled || shape[0] != groups*split[1] ||
		!slices.Equal(shape[1:], split[2:]) {
		return
	}
	node := graph.Node{Op: graph.Transpose, Attrs: n.Attrs, In: []graph.Value{x}, Out: []graph.Value{y}}
	given := n.Out[0]
	if u.alone(x, graph.Concat) && u.equalGroups(x, groups) {
		concat := u.made[x]
		node.Op, node.In, node.Attrs = graph.Concat, u.fn.Nodes[concat].In, u.fn.Nodes[concat].Attrs
		given, u.gone[concat] = x, true
	}
	u.fn.Nodes[to] = node
	u.fused[y] = Fused{Given: given, Groups: groups}
	u.gone[u.made[from]], u.gone[i] = true, true
}

// flatten makes a concatenation, node i, put together what its operands do, if these are concatenations along
// the same axis that nothing else reads: every part then has one place to go to.
func (u *fuser) flatten(i int) {
	n := u.fn.Nodes[i]
	var in []graph.Value
	for _, v := range n.In {
		inner, whole := u.made[v], !u.rows(v) || !u.alone(v, graph.Concat)
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

// swapped returns the permutation of that many axes that exchanges the first two.
func swapped(axes int) (perm []int) {
	for i := range axes {
		perm = append(perm, i)
	}
	perm[0], perm[1] = 1, 0
	return perm
}

// reader returns the only node that reads v, -1 if there is none.
func (u *fuser) reader(v graph.Value) int {
	if u.uses[v] != 1 {
		return -1
	}
	return slices.IndexFunc(u.fn.Nodes, func(n graph.Node) bool { return slices.Contains(n.In, v) })
}

// equalGroups reports whether the concatenation that makes v puts that many groups of channels together,
// each of as many channels.
func (u *fuser) equalGroups(v graph.Value, groups int) bool {
	n := u.fn.Nodes[u.made[v]]
	if n.Int("axis") != 0 || len(n.In) != groups {
		return false
	}
	return !slices.ContainsFunc(n.In, func(x graph.Value) bool {
		return !u.rows(x) || u.fn.Values[x].Type.Shape[0] != u.fn.Values[v].Type.Shape[0]/groups
	})
}
