package collective

import (
	"fmt"
	"math/bits"
	"slices"
)

// Node is a node of the canonical tree: the leaves [From, To). A node of more
// than one leaf is the sum of [From, m) and [m, To), where m is From plus the
// largest power of two below To-From.
type Node struct{ From, To int }

// Root returns the root of the tree over the given number of leaves.
func Root(leaves int) Node { return Node{0, leaves} }

// Leaf reports whether n is a single replica.
func (n Node) Leaf() bool { return n.To-n.From == 1 }

// Children returns the two halves of a node that is not a leaf.
func (n Node) Children() (left, right Node) {
	m := n.From + 1<<(bits.Len(uint(n.To-n.From-1))-1)
	return Node{n.From, m}, Node{m, n.To}
}

// String writes n as an interval: "[4,8)".
func (n Node) String() string { return fmt.Sprintf("[%d,%d)", n.From, n.To) }

// Cover returns the largest nodes of the tree that have only leaves in replicas, from left to
// right. leaves is the number of leaves of the tree, and replicas is increasing.
func Cover(leaves int, replicas []int) []Node {
	if leaves < 1 {
		return nil
	}
	return cover(Root(leaves), replicas, nil)
}

func cover(n Node, replicas []int, out []Node) []Node {
	first, _ := slices.BinarySearch(replicas, n.From)
	last, _ := slices.BinarySearch(replicas, n.To)
	switch count := last - first; {
	case count == 0:
		return out
	case count == n.To-n.From:
		return append(out, n)
	}
	left, right := n.Children()
	return cover(right, replicas, cover(left, replicas, out))
}
