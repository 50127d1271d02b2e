package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// nodeFunction is a function, and the operation of a graph with which package class defines it.
type nodeFunction struct {
	f         Function
	op        graph.Op
	numbers   graph.Attrs
	hasSlopes bool
}

// defined lists the functions of nodes.
var defined = []nodeFunction{
	{Exp, graph.Exp, nil, false}, {Log, graph.Log, nil, false}, {Sigmoid, graph.Sigmoid, nil, true},
	{Tanh, graph.Tanh, nil, true}, {Silu, graph.Silu, nil, true}, {Softplus, graph.Softplus, nil, true},
	{Elu, graph.Elu, graph.Attrs{}.With("alpha", 0.7), true},
	{LeakyRelu, graph.LeakyRelu, graph.Attrs{}.With("alpha", 0.1), true},
	{HardSigmoid, graph.HardSigmoid, graph.Attrs{}.With("alpha", 0.2).With("beta", 0.45), true},
	{HardSwish, graph.HardSwish, nil, true},
	{Erf, graph.Erf, nil, true}, {Gelu, graph.Gelu, nil, true}, {GeluTanh, graph.GeluTanh, nil, true},
	{GeluTanh, graph.GeluTanh, graph.Attrs{}.With("halve_last", true), true}, {Mish, graph.Mish, nil, true},
	{Clip, graph.Clip, graph.Attrs{}.With("min", -1.5).With("max", 2.5), true},
	{AffineOf, graph.Affine, graph.Attrs{}.With("by", 0.3).With("add", -0.7), false},
}

// edges returns the numbers at which functions branch, and their neighbours.
func edges() (all []float32) {
	inf := float32(math.Inf(1))
	for _, v := range []float32{0, 1e-45, 0x1p-126, 1. / 3, 0.5, 0.55, 2. / 3, 1, 4. / 3, 1.5, 2.25, 2.5,
		3, 4, 4 * math.Sqrt2, 6, 12, 16, 16.642534, 20, 86, 87.33, 88.7, 89, 103.97, 104, 1e10, 7e12, 1.9e19,
		0x1p127, math.MaxFloat32, inf} {
		for _, u := range []float32{v, math.Nextafter32(v, inf), math.Nextafter32(v, -inf)} {
			all = append(all, u, -u)
		}
	}
	return append(all, float32(math.NaN()))
}

// TestActivations compares every set with the definitions, on edges and numbers of all sizes, in
// pieces of every length.
func TestActivations(t *testing.T) {
	r := rand.New(rand.NewPCG(38, 1))
	x := edges()
	for range 3000 {
		x = append(x, math.Float32frombits(r.Uint32()), float32(5*r.NormFloat64()))
	}
	dy := make([]float32, len(x))
	for i := range dy {
		dy[i] = float32(r.NormFloat64())
	}
	for _, s := range append(Sets(), definition) {
		for _, d := range defined {
			f, g, a, b := d.of()
			t.Run(s.Name+"/"+d.String(), func(t *testing.T) {
				for n := 0; n < len(x); n += 1 + n/3 {
					piece, slopes := x[len(x)-n:], dy[:n]
					want, y := make([]float32, n), guarded(r, n)
					definition.Apply(d.f, want, piece, a, b, f)
					s.Apply(d.f, y, piece, a, b, f)
					same(t, piece, y, want)
					s.Apply(d.f, copied(y, piece), y, a, b, f)
					same(t, piece, y, want)
					if d.hasSlopes {
						definition.ApplyGradient(d.f, want, piece, slopes, a, b, g)
						s.ApplyGradient(d.f, y, piece, slopes, a, b, g)
						same(t, piece, y, want)
						s.ApplyGradient(d.f, copied(y, slopes), piece, y, a, b, g)
						same(t, piece, y, want)
					}
				}
			})
		}
	}
}

// copied sets y to x, and returns y.
func copied(y, x []float32) []float32 {
	copy(y, x)
	return y
}

// same reports an error for each element of got that differs from want.
func same(t *testing.T, x, got, want []float32) {
	t.Helper()
	for i := range want {
		if !sameBits(got[i:i+1], want[i:i+1]) {
			t.Fatalf("of %g (%#08x), element %d of %d: got %g, want %g", x[i], math.Float32bits(x[i]), i, len(x),
				got[i], want[i])
		}
	}
}

func (d nodeFunction) String() string {
	if d.numbers == nil {
		return d.op.String()
	}
	return fmt.Sprint(d.op, " of ", d.numbers)
}

// of returns the definition of a function and of its derivative, and the numbers a and b that it depends
// on.
func (d nodeFunction) of() (f, slope func(float32) float32, a, b float32) {
	n := &graph.Node{Op: d.op, Attrs: d.numbers}
	if d.hasSlopes {
		slope = class.Derivative32(&graph.Node{Op: graph.ActivationGrad,
			Attrs: d.numbers.With("of", d.op.String())})
	}
	a, b = class.Numbers(n, d.op)
	return class.Activation32(n), slope, a, b
}

// TestRoundings compares functions with package math. Results rounded to float32 must be the same.
func TestRoundings(t *testing.T) {
	r := rand.New(rand.NewPCG(38, 3))
	x := append(edges(), 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0x1p23-0.5, 0x1p22+0.5, -0x1p22-0.5)
	for range 3000 {
		x = append(x, math.Float32frombits(r.Uint32()), float32(5*r.NormFloat64()))
	}
	for f, of := range map[Function]func(float64) float64{Root: math.Sqrt, ToEven: math.RoundToEven,
		Floor: math.Floor, Ceil: math.Ceil} {
		for _, s := range Sets() {
			for n := 0; n < len(x); n += 1 + n/3 {
				piece, want, y := x[len(x)-n:], make([]float32, n), guarded(r, n)
				for i, v := range piece {
					want[i] = float32(of(float64(v)))
				}
				s.Apply(f, y, piece, 0, 0, func(v float32) float32 { return float32(of(float64(v))) })
				same(t, piece, y, want)
			}
		}
	}
}

// TestCombine compares the operations of two elements with their definitions.
func TestCombine(t *testing.T) {
	r := rand.New(rand.NewPCG(38, 2))
	a := edges()
	b := slices.Clone(a)
	r.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	quotient := func(x float32) float32 { return x / 0.7 }
	for _, s := range append(Sets(), definition) {
		want, y := make([]float32, len(a)), make([]float32, len(a))
		definition.Apply(Over, want, a, 0.7, 0, quotient)
		s.Apply(Over, y, a, 0.7, 0, quotient)
		same(t, a, y, want)
		definition.Apply(ExpNormal, want, a, 0, 0, class.ExpNormal)
		s.Apply(ExpNormal, y, a, 0, 0, class.ExpNormal)
		same(t, a, y, want)
		for _, o := range []Operation{Sub, Mul, Div, Prelu, Max, Min, Less, AtMost, Equal, NotEqual} {
			for n := range len(a) {
				want, y := make([]float32, n), guarded(r, n)
				definition.Combine(o, want, a[:n], b)
				s.Combine(o, y, a[:n], b)
				same(t, a, y, want)
			}
		}
		dy := slices.Clone(b)
		slices.Reverse(dy)
		for n := range len(a) {
			want, y := make([]float32, n), guarded(r, n)
			definition.PreluGradient(want, a, b, dy)
			s.PreluGradient(y, a, b, dy)
			same(t, a, y, want)
			s.PreluGradient(copied(y, dy), a, b, y)
			same(t, a, y, want)
			definition.Pick(want, a, b, dy)
			s.Pick(y, a, b, dy)
			same(t, a, y, want)
			s.Pick(copied(y, b), a, y, dy)
			same(t, a, y, want)
		}
	}
}

func BenchmarkActivations(b *testing.B) {
	const n = 8192
	x, y := make([]float32, n), make([]float32, n)
	for i := range x {
		x[i] = float32(i%97)/8 - 6
	}
	for _, s := range vectorSets() {
		for _, d := range defined {
			f, g, n0, n1 := d.of()
			b.Run(fmt.Sprintf("%s/%v", s.Name, d.op), func(b *testing.B) {
				b.SetBytes(n)
				for b.Loop() {
					s.Apply(d.f, y, x, n0, n1, f)
				}
			})
			if d.hasSlopes {
				b.Run(fmt.Sprintf("%s/%v gradient", s.Name, d.op), func(b *testing.B) {
					b.SetBytes(n)
					for b.Loop() {
						s.ApplyGradient(d.f, y, x, x, n0, n1, g)
					}
				})
			}
		}
	}
}
