package ptx

import (
	"fmt"
	"math"
)

func init() {
	for _, to := range []int{8, 16, 32, 64} {
		for _, from := range []int{8, 16, 32, 64} {
			addResize(to, from)
		}
	}
	convert("rn.f32.f64", func(x uint64) uint64 { return single(float32(f64(x))) })
	convert("f64.f32", func(x uint64) uint64 { return math.Float64bits(float64(f32(x))) })
	for _, w := range []int{16, 32, 64} {
		addIntegers(w)
	}
	addRounds()
}

func convert(name string, f func(x uint64) uint64) {
	add("cvt."+name, form{out: 1, in: []int{1}, one: f, loose: true})
}

// addResize adds conversions between integers. They keep the low bits. If both types are signed, a wider
// result extends the sign. In its register, a byte is extended by zeros.
func addResize(to, from int) {
	for _, t := range []string{"u", "s"} {
		convert(fmt.Sprintf("%s%d.u%d", t, to, from), func(x uint64) uint64 { return low(low(x, from), to) })
		convert(fmt.Sprintf("%s%d.s%d", t, to, from),
			func(x uint64) uint64 { return low(uint64(signed(x, from)), to) })
	}
}

// addIntegers adds conversions between integers and floats. A float that is too large becomes the
// largest integer, and NaN becomes zero.
func addIntegers(w int) {
	s, u := fmt.Sprintf("s%d", w), fmt.Sprintf("u%d", w)
	convert("rn.f32."+s, func(x uint64) uint64 { return single(float32(signed(x, w))) })
	convert("rn.f32."+u, func(x uint64) uint64 { return single(float32(low(x, w))) })
	convert("rn.f64."+s, func(x uint64) uint64 { return math.Float64bits(float64(signed(x, w))) })
	convert("rn.f64."+u, func(x uint64) uint64 { return math.Float64bits(float64(low(x, w))) })
	for kind, of := range map[string]func(uint64) float64{"f32": f32ToF64, "f64": f64} {
		convert("rzi."+s+"."+kind, func(x uint64) uint64 { return low(uint64(clampSigned(of(x), w)), w) })
		convert("rzi."+u+"."+kind, func(x uint64) uint64 { return clampUnsigned(of(x), w) })
	}
}

func f32ToF64(x uint64) float64 { return float64(f32(x)) }

func clampSigned(x float64, w int) int64 {
	limit := math.Ldexp(1, w-1)
	switch {
	case x != x:
		return 0
	case x >= limit:
		return 1<<(w-1) - 1
	case x < -limit:
		return -1 << (w - 1)
	}
	return int64(x)
}

func clampUnsigned(x float64, w int) uint64 {
	switch {
	case !(x > 0):
		return 0
	case x >= math.Ldexp(1, w):
		return low(^uint64(0), w)
	}
	return uint64(x)
}

// addRounds adds instructions that round floats to whole numbers, as floats.
func addRounds() {
	modes := map[string]func(float64) float64{
		"rni": math.RoundToEven, "rzi": math.Trunc, "rmi": math.Floor, "rpi": math.Ceil}
	for name, f := range modes {
		convert(name+".f32.f32", func(x uint64) uint64 { return single(float32(f(f32ToF64(x)))) })
		convert(name+".f64.f64", func(x uint64) uint64 { return math.Float64bits(f(f64(x))) })
	}
}
