package collective

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestAssemblyIsReduce distributes replicas over two devices in all ways. An assembly
// gives the bits of Reduce, for sums and for moments, and does not overwrite the partial
// values.
func TestAssemblyIsReduce(t *testing.T) {
	const n = 7
	for _, absent := range [][]int{nil, {2, 5}, {0, 1, 2, 3}, {0, 1, 2, 3, 4, 5, 6}} {
		moments := func(r int) tensor.Tensor {
			if slices.Contains(absent, r) {
				return tensor.Tensor{}
			}
			return tensor.Of(momentsOf([]float64{float64(ordered[r]), 3, float64(r)}), 3)
		}
		for set := range 1 << n {
			checkAssembly(t, Sum, tensor.New(tensor.F32, 1), n, set, scalars(ordered, absent...))
			checkAssembly(t, MergeMoments, tensor.New(tensor.F64, 3), n, set, moments)
		}
	}
}

func checkAssembly(t *testing.T, o Op, dst tensor.Tensor, n, set int, leaf func(int) tensor.Tensor) {
	t.Helper()
	want := Reduce(o, Root(n), leaf)
	replicas := make([][]int, 2)
	for r := range n {
		replicas[set>>r&1] = append(replicas[set>>r&1], r)
	}
	a := NewAssembly(n, replicas)
	parts := make([][]tensor.Tensor, 2)
	for rank, held := range replicas {
		for _, node := range Cover(n, held) {
			parts[rank] = append(parts[rank], Reduce(o, node, leaf))
		}
		if a.Partials(rank) != len(parts[rank]) {
			t.Fatalf("set %b: rank %d brings %d parts, want %d", set, rank, a.Partials(rank), len(parts[rank]))
		}
	}
	for range 2 { // the second time shows that the partial values are unchanged
		a.Into(dst, o, func(rank, i int) tensor.Tensor { return parts[rank][i] })
		switch {
		case want.IsZero() && slices.Max(dst.Bytes) != 0:
			t.Errorf("set %b without rows: %v, want zeros", set, dst.Bytes)
		case !want.IsZero() && !tensor.Equal(dst, want):
			t.Errorf("set %b: %v, want %v", set, dst.Bytes, want.Bytes)
		}
	}
}
