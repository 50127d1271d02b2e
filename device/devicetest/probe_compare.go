package devicetest

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// compared are pairs of operands for comparisons. Some of their elements are equal, NaN, or zeros of
// either sign.
var compared = []struct {
	name string
	a, b operand
}{
	{"rows and rows", rows(17, 3, 2).filledBy(odds), rows(17, 3, 2).filledBy(odds)},
	{"16 channels and a scalar of each row", rows(16, 4, 4).filledBy(odds), rows(1, 1, 1).filledBy(odds)},
	{"a last axis and rows", whole(4).filledBy(odds), rows(3, 4).filledBy(odds)},
	{"rows and replica of f64", rows(6, 1, 2).withType(f64).filledBy(odds), replica(3,
		1).withType(f64).filledBy(odds)},
	{"whole and whole that both stretch", whole(3, 1).filledBy(odds), whole(1, 4).filledBy(odds)},
}

// odds fills t with small whole numbers, halves, NaN, infinities and zeros of either sign.
func odds(d *tensor.Draws, t tensor.Tensor) {
	values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1, -1, 0x1p-149, 0.5,
		-0.5, 2.5, -2.5, 1 << 24, -(1<<24 - 1), math.MaxFloat32, 1.5}
	set(t, func(int) float64 {
		if n := d.Intn(32); n < len(values) {
			return values[n]
		}
		return float64(d.Intn(9)-4) / 2
	})
}

// numbers is a bound that requires the numbers of ref. All NaN count as equal.
var numbers = bound{relative: 0x1p-60}

// compareProbes returns the probes of comparisons, extremes, powers and selection by a
// condition.
func compareProbes() []probe {
	var p []probe
	for _, c := range compared {
		for _, o := range []graph.Op{graph.Max, graph.Min} {
			p = append(p, probe{c.name, o, nil, []operand{c.a, c.b}, numbers})
		}
		p = append(p, probe{c.name + ", special", graph.Pow, nil, []operand{c.a, c.b}, function},
			probe{c.name + ", nothing", graph.Where, nil, []operand{c.b, c.a}, numbers},
			probe{c.name, graph.Where, nil, []operand{c.a, c.b, c.a}, numbers})
	}
	p = append(p,
		probe{"of the condition's replicas", graph.Where, nil,
			[]operand{replica(3, 1).filledBy(odds), whole(2).filledBy(odds), rows(3, 2)}, numbers},
		probe{"rows", graph.Pow, nil, []operand{rows(5, 7).filledBy(positive), rows(5, 7)}, function},
		probe{"rows and a scalar of f64", graph.Pow, nil,
			[]operand{rows(5, 7).withType(f64).filledBy(positive), whole().withType(f64)}, doubled})
	for i, of := range graph.Comparisons {
		c := compared[i%len(compared)]
		p = append(p, probe{of + ", " + c.name, graph.Compare, []any{"of", of}, []operand{c.a, c.b}, numbers},
			probe{of + " 0", graph.Compare, []any{"of", of}, []operand{c.b}, numbers})
	}
	for _, mode := range []string{"even", "floor", "ceil"} {
		p = append(p, probe{mode, graph.Round, []any{"mode", mode}, []operand{rows(5, 9).filledBy(odds)}, numbers},
			probe{mode + " of f64", graph.Round, []any{"mode", mode},
				[]operand{replica(9).withType(f64).filledBy(extreme)}, numbers})
	}
	for _, o := range []graph.Op{graph.ReduceMax, graph.ReduceMin, graph.ReduceProd} {
		tol := numbers
		if o == graph.ReduceProd {
			tol = function
		}
		p = append(p,
			probe{"middle axis", o, []any{"axes", []int{1}}, []operand{rows(3, 5, 4).filledBy(odds)}, tol},
			probe{"outer axes, kept", o, []any{"axes", []int{0, 2}, "keep", true},
				[]operand{rows(3, 3, 4).filledBy(listed(-1.5, 0.5, 2, 1, -0.75, 1.25))}, tol},
			probe{"last axis of replica", o, []any{"axes", []int{1}}, []operand{replica(2, 9).filledBy(odds)}, tol},
			probe{"all axes of whole f64", o, []any{"axes", []int{0, 1}}, []operand{whole(3, 5).withType(f64)}, tol})
	}
	return p
}

// compareFunctions returns probes of the bits of pow, over all magnitudes.
func compareFunctions() []probe {
	base, exponent := rows(13, 5, 3), whole(13, 1, 1)
	return []probe{
		{"of all sizes", graph.Pow, nil, []operand{base.filledBy(extreme), rows(13, 5, 3)}, bits},
		{"channels", graph.Pow, nil, []operand{base.filledBy(branched), exponent.filledBy(fewValues)}, bits},
		{"near 1", graph.Pow, nil, []operand{base.filledBy(nearOne), exponent.filledBy(extreme)}, bits},
		{"halves", graph.Pow, nil, []operand{exponent.filledBy(positive), base.filledBy(odds)}, bits},
		{"product", graph.ReduceProd, []any{"axes", []int{0, 1}}, []operand{base.filledBy(spread)}, bits},
	}
}

// nearOne fills t with numbers within 2^-10 of 1.
func nearOne(d *tensor.Draws, t tensor.Tensor) {
	set(t, func(int) float64 { return 1 + math.Ldexp(d.Normal(), -d.Intn(14)-10) })
}
