package collective_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/tensor"
)

// TestGrowingHasTheBitsOfTheTree adds leaves in random orders, some of them without rows. The values for
// the replicas of a member have the bits of Reduce.
func TestGrowingHasTheBitsOfTheTree(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for leaves := 1; leaves <= 17; leaves++ {
		var held, came []int
		values := map[int]float32{}
		for r := range leaves {
			if draw.IntN(4) > 0 {
				held = append(held, r)
				if draw.IntN(5) > 0 {
					came = append(came, r)
				}
			}
			values[r] = float32(draw.NormFloat64()) * float32(int(1)<<draw.IntN(20))
		}
		leaf := func(r int) tensor.Tensor {
			if !slices.Contains(came, r) {
				return tensor.Tensor{}
			}
			return tensor.Of([]float32{values[r]}, 1)
		}
		g := collective.NewGrowing(collective.Sum)
		draw.Shuffle(len(came), func(i, j int) { came[i], came[j] = came[j], came[i] })
		for _, r := range came {
			g.Add(r, leaf(r))
		}
		got, err := g.Take(leaves, held)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range collective.Cover(leaves, held) {
			want := collective.Reduce(collective.Sum, n, leaf)
			if got[i].Node != n || got[i].Value.IsZero() != want.IsZero() ||
				!want.IsZero() && got[i].Value.F32()[0] != want.F32()[0] {
				t.Errorf("%d leaves, held %v, came %v: node %v is %v, want %v", leaves, held, came, n, got[i], want)
			}
		}
	}
}

// TestGrowingIsSmall checks that few values are kept, and that a leaf of another member is an error.
func TestGrowingIsSmall(t *testing.T) {
	g := collective.NewGrowing(collective.Sum)
	for r := range 7 {
		g.Add(r, tensor.Of([]float32{1}, 1))
	}
	if spent := g.Add(7, tensor.Of([]float32{1}, 1)); len(spent) != 3 {
		t.Errorf("the eighth of eight leaves ends %d values, want 3", len(spent))
	}
	if !g.Has(5) || g.Has(8) {
		t.Errorf("of 8 leaves %v have come", g.Leaves())
	}
	if _, err := g.Take(8, []int{0, 1, 2, 3}); err == nil {
		t.Error("leaves of another member are taken")
	}
}

// TestGrowingOnto checks that adding leaves with Onto and Added gives the same bits as Add.
func TestGrowingOnto(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		leaves := 1 + draw.IntN(17)
		a, b := collective.NewGrowing(collective.Sum), collective.NewGrowing(collective.Sum)
		order := draw.Perm(leaves)
		inOrder := draw.IntN(2) == 0
		if inOrder {
			slices.Sort(order)
		}
		for _, r := range order {
			v := float32(draw.NormFloat64()) * float32(int(1)<<draw.IntN(20))
			spent := a.Add(r, tensor.Of([]float32{v}, 1))
			onto := b.Onto(r)
			if inOrder && len(onto) != len(spent) {
				t.Fatalf("leaf %d is to be added to %d values, and Add ends %d", r, len(onto), len(spent))
			}
			if len(onto) == 0 {
				b.Add(r, tensor.Of([]float32{v}, 1))
				continue
			}
			for _, sum := range onto {
				sum.F32()[0] += v
				v = sum.F32()[0]
			}
			if rest := b.Added(r); len(rest) != len(onto)-1 || len(rest) > 0 && rest[0].F32()[0] != onto[0].F32()[0] {
				t.Fatalf("leaf %d: %d values are spent of %d", r, len(rest), len(onto))
			}
		}
		all := make([]int, leaves)
		for r := range all {
			all[r] = r
		}
		want, err := a.Take(leaves, all)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.Take(leaves, all); err != nil || !tensor.Equal(got[0].Value, want[0].Value) {
			t.Errorf("%d leaves in the order %v: %v, want %v (%v)", leaves, order, got, want, err)
		}
	}
}
