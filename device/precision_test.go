package device

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// TestRoundBF16 compares RoundBF16 with package math/big, rounding to 8 binary
// digits. For every bfloat16 it tests float32 values next to it and next to the
// middle between it and the following bfloat16.
func TestRoundBF16(t *testing.T) {
	for high := uint32(0); high < 1<<16; high++ {
		for _, low := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff} {
			x := math.Float32frombits(high<<16 | low)
			got, want := RoundBF16(x), nearestBF16(x)
			if math.Float32bits(got) != math.Float32bits(want) && (x == x || got == got) {
				t.Fatalf("%x: got %x, want %x", math.Float32bits(x), math.Float32bits(got), math.Float32bits(want))
			}
		}
	}
}

func nearestBF16(x float32) float32 {
	const digits = 8
	switch v := float64(x); {
	case x != x || math.IsInf(v, 0) || x == 0:
		return x
	case math.Abs(v) < 0x1p-126: // subnormals: multiples of 2^-133
		return float32(math.Copysign(math.RoundToEven(math.Abs(v)*0x1p133)*0x1p-133, v))
	default:
		rounded, _ := new(big.Float).SetPrec(digits).SetFloat64(v).Float64()
		return float32(rounded) // out of range: infinite
	}
}

func TestStoredBF16(t *testing.T) {
	for _, c := range []struct {
		typ  graph.Type
		want bool
	}{
		{graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{16, 8, 8}}, true},
		{graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{16, 1}}, true},
		{graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{10}}, false},
		{graph.Type{Kind: graph.Rows, DType: tensor.F32}, false},
		{graph.Type{Kind: graph.Rows, DType: tensor.F64, Shape: []int{16, 8}}, false},
		{graph.Type{Kind: graph.Rows, DType: tensor.U8, Shape: []int{8, 8, 3}}, false},
		{graph.Type{Kind: graph.Replica, DType: tensor.F32, Shape: []int{16, 3, 3, 3}}, false},
		{graph.Type{Kind: graph.Whole, DType: tensor.F32, Shape: []int{16, 3, 3, 3}}, false},
	} {
		if got := StoredBF16(c.typ); got != c.want {
			t.Errorf("%v: got %v", c.typ, got)
		}
	}
}

func TestCheckPrecision(t *testing.T) {
	old, both := Info{Name: "old"}, Info{Name: "new", Precisions: []string{F32, BF16}}
	for _, p := range []string{"", F32} {
		if err := errors.Join(old.CheckPrecision(p), both.CheckPrecision(p)); err != nil {
			t.Error(err)
		}
	}
	if err := both.CheckPrecision(BF16); err != nil {
		t.Error(err)
	}
	err := old.CheckPrecision(BF16)
	if !errors.Is(err, Unsupported) ||
		!strings.Contains(err.Error(), "old: Open: unsupported: precision bf16, and this device has f32 only; use") {
		t.Errorf("got %v", err)
	}
}
