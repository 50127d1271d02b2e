package data

import "github.com/bnctl/bnctl/tensor"

// order returns the order in which an epoch visits n samples: a permutation
// that depends on seed, epoch and n alone.
func order(seed uint64, epoch, n int) []int {
	d := tensor.NewPhilox(seed, tensor.StreamOrder).Draws(uint32(epoch), 0)
	return d.Perm(n)
}

// inOrder returns 0 to n-1.
func inOrder(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
