package class

import (
	"math"

	"github.com/bnctl/bnctl/graph"
)

// Addends is the arithmetic of add_int8. It multiplies a - AZero by ABy, and b - BZero by BBy, and adds
// the products. If Joint is true, AZero and BZero are not the zero points of the operands. The constant
// At includes these zero points instead, and each multiplication is fused with the addition of its
// product.
type Addends struct {
	Int8
	AZero, BZero int32
	ABy, BBy     float32
	At           float32
	Joint        bool
}

// AddendsOf returns the Addends of a node.
func AddendsOf(n *graph.Node) Addends {
	r := Addends{Int8: Int8Of(n), AZero: int32(n.Int("a_zero")), BZero: int32(n.Int("b_zero")),
		ABy: float32(n.Float("a_by")), BBy: float32(n.Float("b_by"))}
	half, joint := jointHalf(n)
	if !joint {
		return r
	}
	zeros := fused(r.ABy, float32(r.AZero-half), float32(r.BBy*float32(r.BZero-half)))
	r.At = float32(r.Zero-half) - zeros
	r.AZero, r.BZero, r.Zero, r.Joint = half, half, half, true
	return r
}

// jointHalf returns the byte that represents 0 in the type named by the attribute joint: 0 for u8 and
// 128 for i8. joint is false if the node does not have the attribute.
func jointHalf(n *graph.Node) (half int32, joint bool) {
	switch n.Text("joint") {
	case "u8":
		return 0, true
	case "i8":
		return 128, true
	}
	return 0, false
}

// Sum returns the sum of two bytes.
func (r Addends) Sum(a, b uint8) uint8 {
	x, y := float32(int32(a)-r.AZero), float32(int32(b)-r.BZero)
	if r.Joint {
		return r.To(fused(r.ABy, x, fused(r.BBy, y, r.At)))
	}
	t, u := float32(x*r.ABy), float32(y*r.BBy)
	return r.To(t + u)
}

// Factors is the arithmetic of mul_int8. At is added to the scaled product, and the sum is then rounded.
type Factors struct {
	Int8
	AZero, BZero int32
	By, At       float32
}

// FactorsOf returns the Factors of a node.
func FactorsOf(n *graph.Node) Factors {
	r := Factors{Int8: Int8Of(n), AZero: int32(n.Int("a_zero")), BZero: int32(n.Int("b_zero")),
		By: float32(n.Float("by"))}
	if half, joint := jointHalf(n); joint {
		r.At, r.Zero = float32(r.Zero-half), half
	}
	return r
}

// Product returns the byte for the product of a and b. The caller has subtracted their zero points.
func (r Factors) Product(a, b int32) uint8 {
	p := float32(float32(a*b) * r.By)
	return r.To(p + r.At)
}

// fused returns x*y + z, rounded once. The product is exact in float64. The sum is rounded to odd if
// its rounding to float64 could change the result in float32 (Boldo, Melquiond 2008, "Emulation of FMA
// and correctly rounded sums").
func fused(x, y, z float32) float32 {
	p := float64(float64(x) * float64(y))
	s := p + float64(z)
	const tail = 1<<29 - 1 // bits of a float64 that a normal float32 lacks
	if b := math.Float64bits(s); b&tail != 1<<28 && math.Abs(s) >= 0x1p-126 {
		return float32(s)
	}
	return float32(roundToOdd(p, float64(z), s))
}

// roundToOdd returns p + z rounded to odd. s is p + z rounded to nearest.
func roundToOdd(p, z, s float64) float64 {
	t := s - p
	e := (p - (s - t)) + (z - t)
	b := math.Float64bits(s)
	if e == 0 || e != e || b&1 == 1 {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}
