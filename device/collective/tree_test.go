package collective

import (
	"slices"
	"testing"
)

// expand writes the tree below n in brackets.
func expand(n Node) string {
	if n.Leaf() {
		return string(rune('a' + n.From))
	}
	l, r := n.Children()
	return "(" + expand(l) + expand(r) + ")"
}

func TestTree(t *testing.T) {
	for leaves, want := range map[int]string{
		1: "a", 2: "(ab)", 3: "((ab)c)", 4: "((ab)(cd))", 5: "(((ab)(cd))e)", 6: "(((ab)(cd))(ef))",
		7: "(((ab)(cd))((ef)g))", 8: "(((ab)(cd))((ef)(gh)))", 9: "((((ab)(cd))((ef)(gh)))i)",
	} {
		if got := expand(Root(leaves)); got != want {
			t.Errorf("%d leaves: %s, want %s", leaves, got, want)
		}
	}
}

func TestCover(t *testing.T) {
	for _, c := range []struct {
		leaves int
		held   []int
		want   []Node
	}{
		{0, nil, nil},
		{8, nil, nil},
		{1, []int{0}, []Node{{0, 1}}},
		{8, []int{0, 1, 2, 3, 4, 5, 6, 7}, []Node{{0, 8}}},
		{8, []int{0, 1, 2, 3}, []Node{{0, 4}}},
		{8, []int{1, 2, 3, 4, 5}, []Node{{1, 2}, {2, 4}, {4, 6}}},
		{8, []int{0, 2, 4, 6}, []Node{{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
		{7, []int{4, 5, 6}, []Node{{4, 7}}},
		{3, []int{1, 2}, []Node{{1, 2}, {2, 3}}},
	} {
		if got := Cover(c.leaves, c.held); !slices.Equal(got, c.want) {
			t.Errorf("Cover(%d, %v) = %v, want %v", c.leaves, c.held, got, c.want)
		}
	}
}

// TestCoverIsExactAndLeast tests all sets of up to ten replicas. A cover contains each
// replica once, and no two of its nodes are the halves of a larger node.
func TestCoverIsExactAndLeast(t *testing.T) {
	for leaves := 1; leaves <= 10; leaves++ {
		for set := range 1 << leaves {
			var held, covered []int
			for r := range leaves {
				if set>>r&1 == 1 {
					held = append(held, r)
				}
			}
			nodes := Cover(leaves, held)
			for _, n := range nodes {
				for r := n.From; r < n.To; r++ {
					covered = append(covered, r)
				}
			}
			if !slices.Equal(covered, held) {
				t.Errorf("%d leaves: %v covers %v, want %v", leaves, nodes, covered, held)
			}
			if n, found := split(Root(leaves), nodes); found {
				t.Errorf("%d leaves: %v holds both halves of %v", leaves, nodes, n)
			}
		}
	}
}

// split returns a node of the tree below n if nodes contains both halves of that node.
func split(n Node, nodes []Node) (Node, bool) {
	if n.Leaf() {
		return n, false
	}
	l, r := n.Children()
	if slices.Contains(nodes, l) && slices.Contains(nodes, r) {
		return n, true
	}
	if n, found := split(l, nodes); found {
		return n, true
	}
	return split(r, nodes)
}
