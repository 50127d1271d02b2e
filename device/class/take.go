package class

import "github.com/bnctl/bnctl/graph"

// Takers returns, for each element of an axis of the given length, the positions in the index of n that
// select the element. n is a take along this axis, or the gradient of one. The positions for element j,
// in ascending order, are positions[ends[j-1]:ends[j]]; for element 0 they are positions[:ends[0]].
func Takers(n *graph.Node, length int) (ends, positions []int) {
	index := n.Ints("index")
	ends, positions = make([]int, length), make([]int, len(index))
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
		positions[next[j]] = i
		next[j]++
	}
	return ends, positions
}
