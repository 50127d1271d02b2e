package class

import "github.com/bnctl/bnctl/device/collective"

// The values of a replica are summed in n parts, with sizes that depend on the shape. The parts
// are added along the canonical tree (docs/design/orders.md): the node [a, b) is the sum of
// [a, m) and [m, b), where m is a plus the largest power of two below b - a.

// alongTree returns the sum of n parts along the tree. leaf returns part i, and add returns the sum of
// the left and the right half of a node.
func alongTree[T any](n int, leaf func(i int) T, add func(a, b T) T) T {
	var of func(n collective.Node) T
	of = func(n collective.Node) T {
		if n.Leaf() {
			return leaf(n.From)
		}
		left, right := n.Children()
		return add(of(left), of(right))
	}
	return of(collective.Root(n))
}

// ceil returns a/b, rounded up.
func ceil(a, b int) int { return (a + b - 1) / b }
