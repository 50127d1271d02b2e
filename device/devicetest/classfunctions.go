package devicetest

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// branches are the points where a function of one element has branches: near zero, at the ends of
// polynomials, at kinks, and where an exponential or its argument overflows or vanishes.
var branches = []float64{0, 0x1p-149, 0x1p-126, 1. / 3, 0.5, 0.55, 2. / 3, 1, 4. / 3, math.Sqrt2, 1.5, 2.5, 3,
	4, 4 * math.Sqrt2, 6, 12, 16, 16.642534, 17.4, 20, 86, 87.33, 88.7, 89, 103.97, 104, 1e10,
	math.MaxFloat32, math.Inf(1),
	0x1p-125,              // half of this is the smallest normal number
	7e12, 1.9e19, 0x1p127} // their cube, square and double overflow

// branched fills t with the numbers in the list branches, with both signs, their float32 neighbours, NaN,
// and numbers of all magnitudes.
func branched(d *tensor.Draws, t tensor.Tensor) {
	inf := float32(math.Inf(1))
	set(t, func(i int) float64 {
		if i%(6*len(branches)+3) == 6*len(branches) {
			return math.NaN()
		}
		if i >= 6*len(branches) {
			return d.Normal() * math.Exp2(float64(d.Intn(60)-50))
		}
		v := float32(branches[i/6])
		v = [3]float32{v, math.Nextafter32(v, inf), math.Nextafter32(v, -inf)}[i%3]
		return math.Copysign(float64(v), float64(i/3%2)-0.5)
	})
}

// functionProbes returns probes of all functions of one element, and of operations on two elements
// with broadcasting.
func functionProbes() []probe {
	var all []probe
	x := rows(7*len(branches) + 1).filledBy(branched)
	for _, f := range []struct {
		op    graph.Op
		attrs []any
	}{
		{graph.Relu, nil}, {graph.Relu6, nil}, {graph.LeakyRelu, []any{"alpha", 0.1}},
		{graph.Elu, []any{"alpha", 0.7}}, {graph.Sigmoid, nil},
		{graph.HardSigmoid, []any{"alpha", 0.2, "beta", 0.45}}, {graph.Silu, nil}, {graph.HardSwish, nil},
		{graph.Tanh, nil}, {graph.Softplus, nil}, {graph.Clip, []any{"min", -1.5, "max", 2.5}},
		{graph.Erf, nil}, {graph.Gelu, nil}, {graph.GeluTanh, nil}, {graph.Mish, nil},
	} {
		grad := append([]any{"of", f.op.String()}, f.attrs...)
		all = append(all,
			probe{"branches", f.op, f.attrs, []operand{x}, bits},
			probe{f.op.String() + ", branches", graph.ActivationGrad, grad,
				[]operand{x, rows(7*len(branches) + 1).filledBy(special)}, bits},
			probe{"35 channels of 5x3", f.op, f.attrs, []operand{rows(35, 5, 3).filledBy(spread)}, bits})
	}
	all = append(all, probe{"branches", graph.Exp, nil, []operand{x}, bits},
		probe{"branches", graph.Log, nil, []operand{x}, bits},
		probe{"the half last, branches", graph.Gelu, []any{"halve_last", true}, []operand{x}, bits},
		probe{"the half last, branches", graph.GeluTanh, []any{"halve_last", true}, []operand{x}, bits},
		probe{"without a term, branches", graph.Affine, []any{"by", -0.5}, []operand{x}, bits})
	for _, shape := range [][]int{{35, 5, 3}, {3, 7, 7}, {64, 3}, {1, 9, 5}, {67}} {
		slopes, maps := whole(shape[0]).filledBy(special), rows(shape...).filledBy(special)
		name := fmt.Sprintf("%d channels of %v", shape[0], shape[1:])
		all = append(all, probe{name, graph.Prelu, nil, []operand{maps, slopes}, bits},
			probe{name, graph.PreluGradInput, nil, []operand{maps, slopes, maps}, bits})
	}
	for _, s := range softmaxes {
		for _, o := range []graph.Op{graph.Softmax, graph.LogSoftmax} {
			axis := []any{"axis", s.axis}
			all = append(all, probe{s.name, o, axis, []operand{rows(s.shape...).filledBy(spread)}, bits},
				probe{s.name + ", masked", o, axis, []operand{rows(s.shape...).filledBy(masked)}, bits},
				probe{s.name + ", NaN, infinities", o, axis, []operand{rows(s.shape...).filledBy(special)}, bits})
		}
	}
	for _, o := range []graph.Op{graph.Add, graph.Sub, graph.Mul, graph.Div} {
		maps := rows(35, 5, 3).filledBy(special)
		for _, other := range []operand{rows(35, 5, 3), rows(35, 1, 1), whole(35, 1, 1), rows(1, 5, 3),
			rows(1, 1, 1), rows(35, 1, 3), whole(3)} {
			name := fmt.Sprintf("35x5x3 and %v %v", other.typ.Kind, other.typ.Shape)
			all = append(all, probe{name, o, nil, []operand{maps, other.filledBy(special)}, bits},
				probe{name + ", exchanged", o, nil, []operand{other.filledBy(special), maps}, bits})
		}
	}
	return all
}
