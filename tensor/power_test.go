package tensor

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// wide is a precision in bits that is enough for the exact values below.
const wide = 320

func wideFloat(x float64) *big.Float { return new(big.Float).SetPrec(wide).SetFloat64(x) }

// exactPow returns e**(y*log(x)), with the logarithm by Newton's method and e**v by its series.
func exactPow(x, y float64) *big.Float {
	v := wideExactLog(x)
	return wideExactExp(v.Mul(v, wideFloat(y)))
}

func wideExactExp(x *big.Float) *big.Float {
	const halvings = 40
	r := new(big.Float).SetPrec(wide).Set(x)
	r.SetMantExp(r, -halvings)
	sum, term := wideFloat(1), wideFloat(1)
	for n := 1; n < 40; n++ {
		term.Mul(term, r)
		term.Quo(term, wideFloat(float64(n)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

func wideExactLog(x float64) *big.Float {
	y := wideFloat(math.Log(x))
	for range 3 {
		e := wideExactExp(y)
		step := new(big.Float).Sub(wideFloat(x), e)
		y.Add(y, step.Quo(step, e))
	}
	return y
}

// exactErf sums the series of positive terms 2x/sqrt(pi) * e**(-x*x) * (1 + 2x^2/3 + 4x^4/15 + ...).
func exactErf(x float64) *big.Float {
	square := new(big.Float).Mul(wideFloat(x), wideFloat(x))
	sum, term := wideFloat(1), wideFloat(1)
	for n := 1; n < 200; n++ {
		term.Mul(term, square)
		term.Mul(term, wideFloat(2))
		term.Quo(term, wideFloat(float64(2*n+1)))
		sum.Add(sum, term)
	}
	sum.Mul(sum, wideExactExp(new(big.Float).Neg(square)))
	sum.Mul(sum, wideFloat(2*x))
	const digits = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899"
	pi, _, _ := big.ParseFloat(digits, 10, wide, big.ToNearestEven)
	return sum.Quo(sum, new(big.Float).Sqrt(pi))
}

func TestPowAccuracy(t *testing.T) {
	for _, c := range []struct {
		name string
		draw func(r *rand.Rand) (x, y float64)
	}{
		{"small", func(r *rand.Rand) (x, y float64) { return math.Exp(r.NormFloat64()), 3 * r.NormFloat64() }},
		{"near 1", func(r *rand.Rand) (x, y float64) { return 1 + r.NormFloat64()*1e-4, 1e6 * r.NormFloat64() }},
		{"of all sizes", func(r *rand.Rand) (x, y float64) {
			x = math.Exp(r.Float64()*1400 - 700)
			return x, (r.Float64()*1400 - 700) / math.Log(x)
		}},
		{"of float32", func(r *rand.Rand) (x, y float64) {
			return float64(float32(r.ExpFloat64())), float64(float32(r.NormFloat64() * 10))
		}},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		worst, atX, atY := 0.0, 0.0, 0.0
		for range 500 {
			x, y := c.draw(r)
			if want := exactPow(x, y); want.MantExp(nil) > -1020 && want.MantExp(nil) < 1024 {
				if e := ulps(Pow(x, y), want); e > worst {
					worst, atX, atY = e, x, y
				}
			}
		}
		t.Logf("%s: %.3f ulp", c.name, worst)
		if worst > 1 {
			t.Errorf("%s: Pow(%v, %v) is %.2f units wrong", c.name, atX, atY, worst)
		}
	}
}

// Where x**y is a float64, Pow returns it exactly. In special cases Pow equals C's pow.
func TestPowExact(t *testing.T) {
	for n := range 40 {
		for x := range 12 {
			want := new(big.Int).Exp(big.NewInt(int64(x)), big.NewInt(int64(n)), nil)
			if f, exact := new(big.Float).SetInt(want).Float64(); exact == big.Exact {
				if got := Pow(float64(x), float64(n)); got != f {
					t.Errorf("Pow(%d, %d) = %v, want %v", x, n, got, f)
				}
			}
		}
	}
	inf, nan := math.Inf(1), math.NaN()
	list := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1e300, -1e300, inf, -inf, nan,
		2.5, -2.5, 1 << 53, -(1<<53 - 1), 0.25, 1023}
	for _, x := range list {
		for _, y := range list {
			got, want := Pow(x, y), math.Pow(x, y)
			same := got == want && math.Signbit(got) == math.Signbit(want) || got != got && want != want
			// math.Pow errs by more than its last place.
			finite := IsFinite(x) && IsFinite(y) && IsFinite(want)
			if x != 0 && finite && math.Abs(want) > 1e-300 {
				same = math.Signbit(got) == math.Signbit(want) && ulps(math.Abs(got), exactPow(math.Abs(x), y)) <= 1
			}
			if !same {
				t.Errorf("Pow(%v, %v) = %v, want %v", x, y, got, want)
			}
		}
	}
}

func TestErfAccuracy(t *testing.T) {
	for _, c := range []struct {
		name string
		draw func(r *rand.Rand) float64
	}{
		{"near 0", func(r *rand.Rand) float64 { return 1e-3 * r.NormFloat64() }},
		{"series", func(r *rand.Rand) float64 { return 2*r.Float64() - 1 }},
		{"table", func(r *rand.Rand) float64 { return 0.8 + 5.3*r.Float64() }},
		{"places and borders", func(r *rand.Rand) float64 {
			return math.Nextafter(float64(r.IntN(96))/16, 9*r.Float64())
		}},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		worst, at := 0.0, 0.0
		for range 300 {
			x := c.draw(r)
			if e := ulps(Erf(x), exactErf(x)); e > worst {
				worst, at = e, x
			}
		}
		t.Logf("%s: %.3f ulp", c.name, worst)
		if worst > 1 {
			t.Errorf("%s: Erf(%v) is %.2f units wrong", c.name, at, worst)
		}
	}
	for _, c := range [][2]float64{{0, 0}, {math.Inf(1), 1}, {math.Inf(-1), -1}, {100, 1}, {-7, -1},
		{5e-324, 5e-324}} {
		if got := Erf(c[0]); got != c[1] {
			t.Errorf("Erf(%v) = %v, want %v", c[0], got, c[1])
		}
	}
	if got := Erf(math.NaN()); got == got {
		t.Errorf("Erf(NaN) = %v", got)
	}
	if got := Erf(math.Copysign(0, -1)); !math.Signbit(got) {
		t.Errorf("Erf(-0) = %v", got)
	}
}

// Every machine must compute the same bits, as in TestMathGolden.
func TestPowErfGolden(t *testing.T) {
	h := fnv.New64a()
	r := rand.New(rand.NewPCG(7, 8))
	for range 10000 {
		x, y := (r.Float64()-0.5)*32, (r.Float64()-0.5)*32
		for _, v := range []float64{Pow(math.Abs(x), y), Erf(x), Erf(x / 8)} {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	if got, want := h.Sum64(), uint64(0xbdd79a28898a6bc4); got != want {
		t.Errorf("10,000 values of each function have the hash %#x, want %#x", got, want)
	}
}
