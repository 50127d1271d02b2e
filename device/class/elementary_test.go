package class_test

import (
	"math"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// elementary are the functions with their error: in units in the last place and, for those that
// are chains, in parts of |x|, whichever is larger. The truth is package math's, whose error is a
// few units of float64.
var elementary = []struct {
	name  string
	f     func(float32) float32
	truth func(float64) float64
	ulps  float64
	of    float64 // 2^-23 of |x| may be wrong, too
}{
	{"exp", class.Exp, math.Exp, 2, 0},
	{"expm1", func(x float32) float32 { return class.Expm1(min(x, 0)) },
		func(x float64) float64 { return math.Expm1(min(x, 0)) }, 2, 0},
	{"log", class.Log, math.Log, 2, 0},
	{"log1p", func(x float32) float32 { return class.Log1p(min(max(x, 0), 1)) },
		func(x float64) float64 { return math.Log1p(min(max(x, 0), 1)) }, 2, 0},
	{"sigmoid", class.Sigmoid, logistic, 2, 0},
	{"tanh", class.Tanh, math.Tanh, 2, 0},
	{"erf", class.Erf, math.Erf, 2, 0},
	{"silu", of(graph.Silu), func(x float64) float64 { return x * logistic(x) }, 4, 0x1p-23},
	{"hard_swish", of(graph.HardSwish),
		func(x float64) float64 { return x * math.Min(math.Max(x/6+0.5, 0), 1) }, 4, 0x1p-23},
	{"softplus", of(graph.Softplus),
		func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }, 4, 0x1p-23},
	{"elu", of(graph.Elu, "alpha", 1.0),
		func(x float64) float64 { return max(x, 0) + math.Expm1(min(x, 0)) }, 4, 0x1p-23},
}

func logistic(x float64) float64 {
	if x < 0 {
		return math.Exp(x) / (1 + math.Exp(x))
	}
	return 1 / (1 + math.Exp(-x))
}

// of returns the function of an activation.
func of(o graph.Op, attrs ...any) func(float32) float32 {
	n := &graph.Node{Op: o}
	for i := 0; i < len(attrs); i += 2 {
		n.Attrs = n.Attrs.With(attrs[i].(string), attrs[i+1])
	}
	return class.Activation32(n)
}

// ulpsOff returns how far got is from want, in units in the last place of want.
func ulpsOff(got float32, want float64) float64 {
	w := float32(want)
	if got == w || got != got && w != w {
		return 0
	}
	if got != got || w != w || math.IsInf(float64(got), 0) || math.IsInf(float64(w), 0) {
		return math.Inf(1)
	}
	unit := math.Ldexp(1, max(math.Ilogb(want), -126)-23)
	return math.Abs(float64(got)-want) / unit
}

// every is the distance between the numbers that are tried: all of them if
// BNCTL_ACTIVATIONS is full.
func every() uint64 {
	if os.Getenv("BNCTL_ACTIVATIONS") == "full" {
		return 1
	}
	return 4099
}

// TestElementaryAtTheEdges: values that no polynomial decides, with the sign of zero.
func TestElementaryAtTheEdges(t *testing.T) {
	inf, nan, tiny := math.Inf(1), math.NaN(), math.SmallestNonzeroFloat32
	zero := math.Copysign(0, -1)
	for _, c := range []struct {
		name    string
		f       func(float32) float32
		x, want []float64
	}{
		{"exp", class.Exp, []float64{inf, -inf, nan, zero, 0, tiny, -103.97, -103.98, 88.73},
			[]float64{inf, 0, nan, 1, 1, 1, tiny, 0, inf}},
		{"expm1", class.Expm1, []float64{-inf, nan, zero, 0, -tiny}, []float64{-1, nan, zero, 0, -tiny}},
		{"log", class.Log, []float64{inf, -inf, nan, zero, 0, 1, -tiny, tiny},
			[]float64{inf, nan, nan, -inf, -inf, 0, nan, -103.27893}},
		{"sigmoid", class.Sigmoid, []float64{inf, -inf, nan, zero, tiny, -103.97, -104},
			[]float64{1, 0, nan, 0.5, 0.5, tiny, 0}},
		{"tanh", class.Tanh, []float64{inf, -inf, nan, zero, 0, tiny}, []float64{1, -1, nan, zero, 0, tiny}},
		{"erf", class.Erf, []float64{inf, -inf, nan, zero, 0, -tiny}, []float64{1, -1, nan, zero, 0, -tiny}},
		{"silu", of(graph.Silu), []float64{inf, -inf, nan, zero, -120}, []float64{inf, nan, nan, zero, zero}},
		{"hard_swish", of(graph.HardSwish), []float64{inf, -inf, nan, zero, -3}, []float64{inf, nan, nan, zero, zero}},
		{"softplus", of(graph.Softplus), []float64{inf, -inf, nan, -200}, []float64{inf, 0, nan, 0}},
		{"affine", of(graph.Affine, "by", -1.0), []float64{inf, nan, zero, 0, tiny}, []float64{-inf, nan, 0, zero, -tiny}},
		{"affine with a sum", of(graph.Affine, "by", -1.0, "add", 2.0), []float64{inf, nan, zero, 0, tiny},
			[]float64{-inf, nan, 2, 2, 2}},
		{"elu", of(graph.Elu, "alpha", 2.0), []float64{inf, -inf, nan, zero}, []float64{inf, -2, nan, zero}},
		{"leaky_relu", of(graph.LeakyRelu, "alpha", 0.0), []float64{inf, -inf, nan, zero, -1},
			[]float64{inf, nan, nan, zero, zero}},
		{"clip", of(graph.Clip, "min", 0.0, "max", 6.0), []float64{inf, -inf, nan, zero}, []float64{6, 0, nan, zero}},
	} {
		for i, x := range c.x {
			got, want := c.f(float32(x)), float32(c.want[i])
			if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
				t.Errorf("%s(%g) = %g, want %g", c.name, x, got, want)
			}
		}
	}
}

// TestElementary tries float32 of all sizes.
func TestElementary(t *testing.T) {
	for _, f := range elementary {
		t.Run(f.name, func(t *testing.T) {
			var m sync.Mutex
			var all sync.WaitGroup
			worst, at, parts := 0.0, float32(0), uint64(runtime.GOMAXPROCS(0))
			for part := range parts {
				all.Go(func() {
					off, where := 0.0, float32(0)
					for bits := part * every(); bits < 1<<32; bits += parts * every() {
						x := math.Float32frombits(uint32(bits))
						want := f.truth(float64(x))
						got := f.f(x)
						if e := ulpsOff(got, want); e > off &&
							!(math.Abs(float64(got)-want) <= f.of*math.Abs(float64(x))) {
							off, where = e, x
						}
					}
					m.Lock()
					defer m.Unlock()
					if off > worst {
						worst, at = off, where
					}
				})
			}
			all.Wait()
			t.Logf("%.3f ulp at %g", worst, at)
			if worst > f.ulps {
				t.Errorf("%s(%g) is off by %.2f ulp: %g, want %g", f.name, at, worst, f.f(at), f.truth(float64(at)))
			}
		})
	}
}
