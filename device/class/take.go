package class

import "github.com/bnctl/bnctl/graph"

// Takers returns which elements of the result of n, a take along an axis of a length
// or its gradient, are each element of that axis: those of element j, in ascending
// order, are all[ends[j-1]:ends[j]], from 0 for the first.
func Takers(n *graph.Node, length int) (ends, all []int) {
	index := n.Ints("index")
	ends, all = make([]int, length), make([]int, len(index))
	for _, j := range index {
		ends[j]++
	}
	next, sum := make([]int, length), 0
	for j, count := range ends {
		next[j] = sum
		sum += count
		ends[j] = sum
	}
	for i, j := range index {
		all[next[j]] = i
		next[j]++
	}
	return ends, all
}
