package class

import "github.com/bnctl/bnctl/device/collective"

// No sum is one chain over everything that a replica holds: parts whose size the
// shape says are added along the canonical tree (docs/design/orders.md), here n of
// them: the node [a, b) is [a, m) + [m, b), m being a plus the largest power of two
// below b - a.

// alongTree returns the sum of n parts; add adds the second to the first.
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
