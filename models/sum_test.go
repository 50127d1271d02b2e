package models

import (
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestWeightsSum checks the sum of a small state, which testdata/weightssum.py computes, and that
// every bit of it counts.
func TestWeightsSum(t *testing.T) {
	x := tensor.New(tensor.F32, 2, 1)
	x.F32()[0], x.F32()[1] = 1, -0.5
	n := tensor.New(tensor.I32, 1)
	n.I32()[0] = 7
	m := &Model{State: map[string]tensor.Tensor{"b.weight": x, "a": n}}
	const want = "911eb1bcc38363402476a4963fb8b291c6f7139ccfe4ac0fe38f59cb87c29636"
	if got := m.WeightsSum(); got != want {
		t.Errorf("the sum is %s, want %s", got, want)
	}
	x.Bytes[0] ^= 1
	if m.WeightsSum() == want {
		t.Error("a changed bit leaves the sum")
	}
}
