package ptx

import "math"

func f32(x uint64) float32 { return math.Float32frombits(uint32(x)) }

func f64(x uint64) float64 { return math.Float64frombits(x) }

// single returns the bits of a float32. All NaNs have the same bits, as on hardware.
func single(x float32) uint64 {
	if x != x {
		return 0x7fffffff
	}
	return uint64(math.Float32bits(x))
}

func init() {
	single2 := func(f func(x, y float32) float32) form {
		return two(32, func(x, y uint64) uint64 { return single(f(f32(x), f32(y))) })
	}
	double2 := func(f func(x, y float64) float64) form {
		return two(64, func(x, y uint64) uint64 { return math.Float64bits(f(f64(x), f64(y))) })
	}
	add("add.rn.f32", single2(func(x, y float32) float32 { return x + y }))
	add("sub.rn.f32", single2(func(x, y float32) float32 { return x - y }))
	add("mul.rn.f32", single2(func(x, y float32) float32 { return x * y }))
	add("div.rn.f32", single2(func(x, y float32) float32 { return x / y }))
	add("add.rn.f64", double2(func(x, y float64) float64 { return x + y }))
	add("sub.rn.f64", double2(func(x, y float64) float64 { return x - y }))
	add("mul.rn.f64", double2(func(x, y float64) float64 { return x * y }))
	add("div.rn.f64", double2(func(x, y float64) float64 { return x / y }))
	add("sqrt.rn.f32", one(32, func(x uint64) uint64 { return single(float32(math.Sqrt(float64(f32(x))))) }))
	add("sqrt.rn.f64", one(64, func(x uint64) uint64 { return math.Float64bits(math.Sqrt(f64(x))) }))
	add("rcp.rn.f32", one(32, func(x uint64) uint64 { return single(1 / f32(x)) }))
	add("rcp.rn.f64", one(64, func(x uint64) uint64 { return math.Float64bits(1 / f64(x)) }))
	addSigns(32, ".f32")
	addSigns(64, ".f64")
	add("min.f32", single2(func(x, y float32) float32 { return float32(lesser(float64(x), float64(y))) }))
	add("max.f32", single2(func(x, y float32) float32 { return float32(-lesser(-float64(x), -float64(y))) }))
	add("min.NaN.f32", orNaN(lesser))
	add("max.NaN.f32", orNaN(func(x, y float64) float64 { return -lesser(-x, -y) }))
	add("min.f64", double2(lesser))
	add("max.f64", double2(func(x, y float64) float64 { return -lesser(-x, -y) }))
	add("fma.rn.f32", form{out: 32, in: []int{32, 32, 32}, three: func(x, y, z uint64) uint64 {
		return single(fma32(f32(x), f32(y), f32(z)))
	}})
	add("fma.rn.f64", form{out: 64, in: []int{64, 64, 64}, three: func(x, y, z uint64) uint64 {
		return math.Float64bits(math.FMA(f64(x), f64(y), f64(z)))
	}})
}

// lesser computes the instruction min of the PTX ISA. If one operand is NaN, the result is the other one.
// -0 is less than +0.
func lesser(x, y float64) float64 {
	switch {
	case x != x:
		return y
	case y != y:
		return x
	}
	return min(x, y)
}

// addSigns adds the instructions neg and abs, which only change the sign.
func addSigns(w int, kind string) {
	sign := uint64(1) << (w - 1)
	add("neg"+kind, one(w, func(x uint64) uint64 { return x ^ sign }))
	add("abs"+kind, one(w, func(x uint64) uint64 { return x &^ sign }))
}

// fma32 returns x*y + z, rounded once. The product is exact in float64. If rounding the sum to float64
// could change the rounding to float32, the sum is rounded to odd instead (Boldo, Melquiond 2008,
// "Emulation of FMA and correctly rounded sums").
func fma32(x, y, z float32) float32 {
	p := float64(x) * float64(y)
	s := p + float64(z)
	const tail = 1<<29 - 1 // bits of a float64 that a normal float32 lacks
	if b := math.Float64bits(s); b&tail != 1<<28 && math.Abs(s) >= 0x1p-126 {
		return float32(s)
	}
	return float32(odd(p, float64(z), s))
}

// odd returns p + z rounded to odd. s must be p + z rounded to nearest.
func odd(p, z, s float64) float64 {
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

// orNaN returns a form that is f, or NaN (0x7fffffff) if one of the operands is NaN.
func orNaN(f func(x, y float64) float64) form {
	return two(32, func(x, y uint64) uint64 {
		a, b := f32ToF64(x), f32ToF64(y)
		if a != a || b != b {
			return 0x7fffffff
		}
		return single(float32(f(a, b)))
	})
}
