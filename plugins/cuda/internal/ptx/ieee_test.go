package ptx

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// precise is a precision at which any sum of two products of float64s is exact.
const precise = 8500

// singles returns float32s at the limits of the format, and some of every magnitude.
func singles() []uint64 {
	list := []uint64{0, 1, 2, 0x7fffff, 0x800000, 0x800001, 0x3f800000, 0x3f800001, 0x3f7fffff, 0x40490fdb,
		0x33800000, 0x33800001, 0x4b000000, 0x4b7fffff, 0x7f7fffff, 0x7f800000, 0x7fffffff, 0x00c00000, 0x1f800000}
	r := rand.New(rand.NewPCG(1, 2))
	for range 24 {
		list = append(list, uint64(r.Uint32()&0x7fffffff))
	}
	for i := range list {
		list = append(list, list[i]|1<<31)
	}
	return list
}

func doubles() []uint64 {
	var list []uint64
	for _, x := range singles() {
		b := math.Float64bits(float64(f32(x)))
		list = append(list, b, b+1, b>>1|b&(1<<63))
	}
	return append(list, 1, 1<<52, 1<<52-1, math.Float64bits(math.MaxFloat64))
}

func number(w int, x uint64) float64 {
	if w == 32 {
		return float64(f32(x))
	}
	return f64(x)
}

// rounded returns x rounded once to w bits. If the result is zero, it has the sign of zero.
func rounded(w int, x *big.Float, zero float64) float64 {
	var v float64
	if w == 32 {
		s, _ := x.Float32()
		v = float64(s)
	} else {
		v, _ = x.Float64()
	}
	if x.Sign() == 0 {
		return zero
	}
	return v
}

// same reports whether two results have equal bits, or are both NaN.
func same(w int, got uint64, want float64) bool {
	if want != want {
		return number(w, got) != number(w, got)
	}
	return math.Float64bits(number(w, got)) == math.Float64bits(want)
}

func exact(x float64) *big.Float { return new(big.Float).SetPrec(precise).SetFloat64(x) }

func finite(xs ...float64) bool {
	for _, x := range xs {
		if x-x != 0 {
			return false
		}
	}
	return true
}

// expected returns the result of an operation according to IEEE 754. Results that are not
// finite, and the signs of exact zeros, are the same in every width: Go's float64 gives
// them.
func expected(w int, name string, x, y, z float64) float64 {
	plain := map[string]float64{"add": x + y, "sub": x - y, "mul": x * y, "div": x / y, "sqrt": math.Sqrt(x),
		"fma": math.FMA(x, y, z)}[name]
	if !finite(x, y, z) || name == "div" && y == 0 || name == "sqrt" && x <= 0 {
		return plain
	}
	e := exact(0)
	switch name {
	case "add":
		e.Add(exact(x), exact(y))
	case "sub":
		e.Sub(exact(x), exact(y))
	case "mul":
		e.Mul(exact(x), exact(y))
	case "fma":
		e.Add(e.Mul(exact(x), exact(y)), exact(z))
	case "div":
		e.SetPrec(300).Quo(exact(x), exact(y))
	case "sqrt":
		e.SetPrec(300).Sqrt(exact(x))
	}
	return rounded(w, e, plain)
}

// TestFloatsAreIEEE compares every operation that rounds with math/big.
func TestFloatsAreIEEE(t *testing.T) {
	for w, list := range map[int][]uint64{32: singles(), 64: doubles()} {
		kind := map[int]string{32: ".rn.f32", 64: ".rn.f64"}[w]
		for i, x := range list {
			if got, want := forms["sqrt"+kind].one(x), expected(w, "sqrt", number(w, x), 0, 0); !same(w, got, want) {
				t.Fatalf("sqrt%s(%#x) = %#x, want %g", kind, x, got, want)
			}
			for j, y := range list {
				for _, name := range []string{"add", "sub", "mul", "div"} {
					got, want := forms[name+kind].two(x, y), expected(w, name, number(w, x), number(w, y), 0)
					if !same(w, got, want) {
						t.Fatalf("%s%s(%#x, %#x) = %#x, want %g", name, kind, x, y, got, want)
					}
				}
				z := list[(i*31+j*7)%len(list)]
				got := forms["fma"+kind].three(x, y, z)
				want := expected(w, "fma", number(w, x), number(w, y), number(w, z))
				if !same(w, got, want) {
					t.Fatalf("fma%s(%#x, %#x, %#x) = %#x, want %g", kind, x, y, z, got, want)
				}
			}
		}
	}
}

// TestLesser checks that min and max return the other operand if one is NaN, and that they distinguish +0
// from -0.
func TestLesser(t *testing.T) {
	for _, x := range doubles() {
		for _, y := range doubles() {
			low, high := math.Min(f64(x), f64(y)), math.Max(f64(x), f64(y))
			switch {
			case f64(x) != f64(x):
				low, high = f64(y), f64(y)
			case f64(y) != f64(y):
				low, high = f64(x), f64(x)
			}
			if !same(64, forms["min.f64"].two(x, y), low) || !same(64, forms["max.f64"].two(x, y), high) {
				t.Fatalf("min or max of %g and %g", f64(x), f64(y))
			}
		}
		if !same(64, forms["rcp.rn.f64"].one(x), 1/f64(x)) {
			t.Fatalf("rcp.rn.f64(%g)", f64(x))
		}
	}
}

// TestFusedTies checks sums that are so close to the middle of two float32s that rounding
// to float64 first would give the wrong result.
func TestFusedTies(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		z := math.Float32frombits(r.Uint32()&0x007fffff | uint32(90+r.IntN(60))<<23)
		half := float32(math.Ldexp(1, math.Ilogb(float64(z))-24))
		x := 1 + float32(r.IntN(3)-1)*0x1p-23
		y := half * (1 + float32(r.IntN(3)-1)*0x1p-23)
		got := forms["fma.rn.f32"].three(single(x), single(y), single(z))
		want := expected(32, "fma", float64(x), float64(y), float64(z))
		if !same(32, got, want) {
			t.Fatalf("fma(%x, %x, %x) = %#x, want %x", x, y, z, got, want)
		}
	}
}

// TestFloatsToFloats checks conversions between floats, and the instructions that change signs.
func TestFloatsToFloats(t *testing.T) {
	for _, x := range doubles() {
		v := f64(x)
		if finite(v) && !same(32, forms["cvt.rn.f32.f64"].one(x), rounded(32, exact(v), v)) {
			t.Fatalf("cvt.rn.f32.f64(%g)", v)
		}
		if got := f64(forms["neg.f64"].one(x)); math.Signbit(got) == math.Signbit(v) || math.Abs(got) != math.Abs(v) && v == v {
			t.Fatalf("neg.f64(%g) = %g", v, got)
		}
		if got := f64(forms["cvt.rni.f64.f64"].one(x)); got != math.RoundToEven(v) && v == v {
			t.Fatalf("cvt.rni.f64.f64(%g) = %g", v, got)
		}
	}
	for _, x := range singles() {
		if v := f32(x); v == v && f64(forms["cvt.f64.f32"].one(x)) != float64(v) {
			t.Fatalf("cvt.f64.f32(%g)", v)
		}
		if v := f32(x); v == v && float64(f32(forms["abs.f32"].one(x))) != math.Abs(float64(v)) {
			t.Fatalf("abs.f32(%g)", v)
		}
	}
}
