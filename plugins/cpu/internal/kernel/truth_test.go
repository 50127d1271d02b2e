package kernel

import (
	"math"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// bounds are the maximum errors, in units in the last place. For operations with a bound of 4, a unit is at
// least 2^-25 of |x|.
var bounds = map[graph.Op]float64{graph.Exp: 2, graph.Log: 2, graph.Sigmoid: 2, graph.Tanh: 2, graph.Erf: 2,
	graph.Silu: 4, graph.HardSwish: 4, graph.Softplus: 4, graph.Elu: 4, graph.Gelu: 4, graph.GeluTanh: 4,
	graph.Mish: 4}

// truth returns the exact function, computed in float64, or nil if it is not compared.
func (d nodeFunction) truth() func(float64) float64 {
	switch {
	case d.op == graph.Exp:
		return tensor.Exp
	case d.op == graph.Log:
		return tensor.Log
	case bounds[d.op] == 0 || d.op == graph.GeluTanh && len(d.numbers) > 0: // their product overflows
		return nil
	}
	return class.Activation(&graph.Node{Op: d.op, Attrs: d.numbers})
}

// farthest is the largest error of a function so far, in units in the last place, and its argument.
type farthest struct {
	of    graph.Op
	mu    sync.Mutex
	units float64
	at    float32
}

func (f *farthest) add(units float64, at float32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if units > f.units {
		f.units, f.at = units, at
	}
}

func (f *farthest) judge(t *testing.T) {
	bound := bounds[f.of]
	if bound == 0 {
		return
	}
	t.Logf("off by at most %.3f of %g units, of %g", f.units, bound, f.at)
	if f.units > bound {
		t.Errorf("off by %.2f units, of %g", f.units, f.at)
	}
}

// block checks results for neighbouring numbers, the first of which has the given bits. The exact results
// are values of a polynomial through exact results for a few of these numbers. Its error is far below a
// unit in the last place.
func (f *farthest) block(got []float32, truth func(float64) float64, bits, step uint32) {
	number := func(i int) float64 { return float64(math.Float32frombits(bits + uint32(i)*step)) }
	part := 0.0
	if bounds[f.of] == 4 {
		part = 0x1p-25
	}
	var near *polynomial
	if step == 1 {
		near = through(func(i int) float64 { return truth(number(i)) })
	}
	for i, y := range got {
		if near != nil {
			want := near.at(float64(i))
			if e := math.Abs(float64(y) - want); e*perUnit(want) <= f.units || e <= f.units*part*math.Abs(number(i)) {
				continue
			}
		}
		f.add(unitsOff(y, truth(number(i)), part*math.Abs(number(i))), float32(number(i)))
	}
}

// perUnit returns 1 divided by the unit in the last place of a float32, which is finite.
func perUnit(v float64) float64 {
	exponent := max(math.Float64bits(v)>>52&0x7ff, 1023-126)
	return math.Float64frombits((2*1023 + 23 - exponent) << 52)
}

// unitsOff returns the difference between got and want in units in the last place of want. A unit is at
// least least.
func unitsOff(got float32, want, least float64) float64 {
	w := float32(want)
	if got == w || got != got && w != w {
		return 0
	}
	if got != got || w != w || math.IsInf(float64(got), 0) || math.IsInf(float64(w), 0) {
		return math.Inf(1)
	}
	return math.Abs(float64(got)-want) / max(1/perUnit(want), least)
}

// polynomial has the coefficients of a polynomial in Newton's form. Its argument is the index of a number
// in a block. nodes are the Chebyshev nodes of a block.
type polynomial [6]float64

var nodes = func() (all polynomial) {
	for k := range all {
		all[k] = math.Round((tried - 1) / 2. * (1 - math.Cos((float64(k)+0.5)/float64(len(all))*math.Pi)))
	}
	return all
}()

// through returns the polynomial through some values of a block. It returns nil if one of
// them is not finite, or if other values do not fit the polynomial.
func through(value func(i int) float64) *polynomial {
	var p polynomial
	for k, i := range nodes {
		if p[k] = value(int(i)); !(math.Abs(p[k]) < 1e300) {
			return nil
		}
	}
	for n := 1; n < len(p); n++ {
		for k := len(p) - 1; k >= n; k-- {
			p[k] = (p[k] - p[k-1]) / (nodes[k] - nodes[k-n])
		}
	}
	for _, i := range []int{0, 300, 2900, tried - 1} {
		if want := value(i); !(math.Abs(p.at(float64(i))-want) <= 1e-10*math.Abs(want)) {
			return nil
		}
	}
	return &p
}

func (p *polynomial) at(i float64) float64 {
	sum := p[len(p)-1]
	for k := len(p) - 2; k >= 0; k-- {
		sum = float64(sum*(i-nodes[k])) + p[k]
	}
	return sum
}
