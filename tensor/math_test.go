package tensor

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// ulps returns the distance of got from the exact value want, in units of the
// last place of want rounded to float64.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	if got == w {
		return 0
	}
	unit := math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w)
	diff := new(big.Float).Sub(big.NewFloat(got).SetPrec(200), want)
	d, _ := diff.Quo(diff, big.NewFloat(unit)).Float64()
	return math.Abs(d)
}

const precision = 200 // bits of the exact values below

func bigFloat(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// exactExp sums the series of e**(x/2^k) and squares k times.
func exactExp(x float64) *big.Float {
	const halvings = 20
	r := bigFloat(x)
	r.SetMantExp(r, -halvings)
	sum, term := bigFloat(1), bigFloat(1)
	for n := 1; n < 40; n++ {
		term.Mul(term, r)
		term.Quo(term, bigFloat(float64(n)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// exactLog improves math.Log by one step of Halley's method, applied twice.
func exactLog(x float64) *big.Float {
	y := bigFloat(math.Log(x))
	// The step of Halley's method is y + 2*(x - e^y)/(x + e^y). exactExp of the two halves of y gives
	// e^y.
	e := exactExp(math.Log(x))
	num := new(big.Float).Sub(bigFloat(x), e)
	den := new(big.Float).Add(bigFloat(x), e)
	num.Quo(num.Mul(num, bigFloat(2)), den)
	return y.Add(y, num)
}

// exactSinCos sums the series of sine and cosine.
func exactSinCos(x float64) (sin, cos *big.Float) {
	sin, cos = new(big.Float).SetPrec(precision+200), new(big.Float).SetPrec(precision+200)
	term := new(big.Float).SetPrec(precision + 200).SetFloat64(1)
	xx := new(big.Float).SetPrec(precision + 200).SetFloat64(x)
	for n := range 300 {
		sum := [4]*big.Float{cos, sin, cos, sin}[n%4]
		if n%4 < 2 {
			sum.Add(sum, term)
		} else {
			sum.Sub(sum, term)
		}
		term.Mul(term, xx)
		term.Quo(term, bigFloat(float64(n+1)))
	}
	return sin, cos
}

func exactTanh(x float64) *big.Float {
	a, b := exactExp(x), exactExp(-x)
	sum, diff := new(big.Float).Add(a, b), new(big.Float).Sub(a, b)
	return diff.Quo(diff, sum)
}

func TestMathAccuracy(t *testing.T) {
	multiple := func(r *rand.Rand) float64 { return float64(r.IntN(40)) * math.Pi / 2 }
	sine := func(x float64) *big.Float { s, _ := exactSinCos(x); return s }
	cosine := func(x float64) *big.Float { _, c := exactSinCos(x); return c }
	for _, f := range []struct {
		name  string
		got   func(float64) float64
		exact func(float64) *big.Float
		draw  func(r *rand.Rand) float64
		ulps  float64
	}{
		{"Exp near 0", Exp, exactExp, func(r *rand.Rand) float64 { return r.NormFloat64() }, 1},
		{"Exp", Exp, exactExp, func(r *rand.Rand) float64 { return r.Float64()*1400 - 700 }, 1},
		{"Log near 1", Log, exactLog, func(r *rand.Rand) float64 { return 0.5 + r.Float64() }, 1},
		{"Log", Log, exactLog, func(r *rand.Rand) float64 { return math.Exp(r.Float64()*1400 - 700) }, 1},
		{"Sin", Sin, sine, func(r *rand.Rand) float64 { return r.NormFloat64() * 4 }, 1},
		{"Cos", Cos, cosine, func(r *rand.Rand) float64 { return r.NormFloat64() * 4 }, 1},
		{"Sin at multiples of pi/2", Sin, sine, multiple, 1},
		{"Cos at multiples of pi/2", Cos, cosine, multiple, 1},
		{"Tanh", Tanh, exactTanh, func(r *rand.Rand) float64 { return r.NormFloat64() }, 3},
		{"Tanh near 0", Tanh, exactTanh, func(r *rand.Rand) float64 { return r.NormFloat64() * 1e-5 }, 3},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		worst, at := 0.0, 0.0
		for range 1000 {
			x := f.draw(r)
			if e := ulps(f.got(x), f.exact(x)); e > worst {
				worst, at = e, x
			}
		}
		t.Logf("%s: %.3f ulp", f.name, worst)
		if worst > f.ulps {
			t.Errorf("%s: error %.2f ulp at %v, want at most %v", f.name, worst, at, f.ulps)
		}
	}
}

func TestMathLargeAngles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		x := (r.Float64()*2 - 1) * maxAngle
		if got, want := Sin(x), math.Sin(x); math.Abs(got-want) > 3e-16 {
			t.Errorf("Sin(%v) = %v, want %v", x, got, want)
		}
		if got, want := Cos(x), math.Cos(x); math.Abs(got-want) > 3e-16 {
			t.Errorf("Cos(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestMathSpecialValues(t *testing.T) {
	inf, nan, tiny := math.Inf(1), math.NaN(), math.SmallestNonzeroFloat64
	for _, c := range []struct {
		name      string
		f         func(float64) float64
		x, want   float64
		tolerance float64 // relative error
	}{
		{"Exp", Exp, 0, 1, 0}, {"Exp", Exp, inf, inf, 0}, {"Exp", Exp, -inf, 0, 0}, {"Exp", Exp, nan, nan, 0},
		{"Exp", Exp, 709.9, inf, 0}, {"Exp", Exp, -746, 0, 0}, {"Exp", Exp, -745.13, tiny, 0},
		{"Exp", Exp, 709.7827, math.Exp(709.7827), 1e-15}, {"Exp", Exp, -720, math.Exp(-720), 1e-9},
		{"Log", Log, 0, -inf, 0}, {"Log", Log, -1, nan, 0}, {"Log", Log, inf, inf, 0}, {"Log", Log, nan, nan, 0},
		{"Log", Log, 1, 0, 0}, {"Log", Log, tiny, -744.4400719213812, 1e-15},
		{"Sin", Sin, 0, 0, 0}, {"Cos", Cos, 0, 1, 0}, {"Sin", Sin, inf, nan, 0}, {"Cos", Cos, nan, nan, 0},
		{"Sin", Sin, 2 * maxAngle, nan, 0},
		{"Tanh", Tanh, 0, 0, 0}, {"Tanh", Tanh, inf, 1, 0}, {"Tanh", Tanh, -inf, -1, 0},
		{"Tanh", Tanh, nan, nan, 0},
		{"Tanh", Tanh, 19.9, 1, 1e-15}, {"Tanh", Tanh, -1e-300, -1e-300, 0},
	} {
		got := c.f(c.x)
		same := got == c.want || got != got && c.want != c.want
		if !same && !(math.Abs(got-c.want) <= c.tolerance*math.Abs(c.want)) {
			t.Errorf("%s(%v) = %v, want %v", c.name, c.x, got, c.want)
		}
	}
}

// The hash was computed by this package on linux/amd64; every machine must
// compute the same bits.
func TestMathGolden(t *testing.T) {
	h := fnv.New64a()
	r := rand.New(rand.NewPCG(5, 6))
	for range 10000 {
		x := r.NormFloat64() * 8
		for _, y := range []float64{Exp(x), Log(math.Abs(x)), Sin(x), Cos(x), Tanh(x)} {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(y)))
		}
	}
	if got, want := h.Sum64(), uint64(0xe00500fa410d1aa9); got != want {
		t.Errorf("10,000 values of each function have the hash %#x, want %#x", got, want)
	}
}
