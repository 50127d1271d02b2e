package collective

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bnctl/bnctl/tensor"
)

func TestSumOfFloat64(t *testing.T) {
	a, b := tensor.Of([]float64{1, 1e300}, 2), tensor.Of([]float64{1e-12, -1e299}, 2)
	Add(a, a, b)
	if got := a.F64(); got[0] != 1+1e-12 || got[1] != 1e300-1e299 {
		t.Errorf("sum is %v", got)
	}
}

// TestCombineMissesALeaf checks that Combine returns an error if any leaf is missing.
func TestCombineMissesALeaf(t *testing.T) {
	leaf := func(i int) Partial { return Partial{Node{i, i + 1}, tensor.Of([]float32{1}, 1)} }
	for missing := range 3 {
		var parts []Partial
		for i := range 3 {
			if i != missing {
				parts = append(parts, leaf(i))
			}
		}
		if v, err := Combine(Sum, 3, parts); err == nil {
			t.Errorf("without replica %d: %v and no error", missing, v)
		}
	}
}

// TestAssemblyOfNothing checks that an assembly sets the result to zeros if no replica has rows.
func TestAssemblyOfNothing(t *testing.T) {
	a := NewAssembly(2, [][]int{{0}, {1}})
	dst := tensor.Of([]float32{7, 8}, 2)
	a.Into(dst, Sum, func(int, int) tensor.Tensor { return tensor.Tensor{} })
	if got := dst.F32(); got[0] != 0 || got[1] != 0 {
		t.Errorf("nothing sums to %v", got)
	}
}

// TestHubKeepsCount checks that a hub reports the missing ranks even in exchanges without
// values, that it counts completed rounds, and that Abort wakes the members that wait.
func TestHubKeepsCount(t *testing.T) {
	ctx, h := context.Background(), NewHub(2, 2)
	if m := h.Missing(); m != nil {
		t.Errorf("%v are missing before anybody came", m)
	}
	first := h.Member(0).Start(ctx, Tag{}, nil)
	if m := h.Missing(); len(m) != 1 || m[0] != 1 {
		t.Errorf("%v are missing, want 1", m)
	}
	second := h.Member(1).Start(ctx, Tag{}, nil)
	if err := errors.Join(first(), second()); err != nil {
		t.Error(err)
	}
	if m, n := h.Missing(), h.Exchanges(); m != nil || n != 1 {
		t.Errorf("%d exchanges, %v missing; want 1 and nobody", n, m)
	}
	wait, cause := h.Member(1).Start(ctx, Tag{Sequence: 1}, nil), errors.New("gone")
	done := make(chan error, 1)
	go func() { done <- wait() }()
	h.Abort(cause)
	select {
	case err := <-done:
		if !errors.Is(err, Aborted) || !errors.Is(err, cause) {
			t.Errorf("error %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("who waits is not woken")
	}
}
