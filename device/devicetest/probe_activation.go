package devicetest

import "github.com/bnctl/bnctl/graph"

// kinks repeats values where derivatives of activations jump, including both zeros, and some
// other values.
var kinks = listed(-6, -3, -1, 0, 1, 3, 6, 7, -0.25, 0.25, 2, -2, 1e-6, -1e-6, 90, -90, 200, -200)

// activated returns the probes of an activation and of its derivative.
func activated(o graph.Op, tol bound, attrs ...any) []probe {
	saved := kinks
	if graph.SavesResult(o) {
		saved = listed(0, 0.5, 1, 6, 3, 1e-7, 0.999, 5.5)
	}
	grad := append([]any{"of", o.String()}, attrs...)
	return []probe{
		{"17 channels of 3x3", o, attrs, []operand{rows(17, 3, 3)}, tol},
		{"kinks", o, attrs, []operand{rows(18).filledBy(kinks)}, tol},
		{"of replicas", o, attrs, []operand{replica(5)}, tol},
		{o.String(), graph.ActivationGrad, grad, []operand{rows(17, 3, 3), rows(17, 3, 3)}, tol},
		{o.String() + ", kinks", graph.ActivationGrad, grad, []operand{rows(18).filledBy(saved), rows(18)}, tol},
	}
}

var softmaxes = []struct {
	name  string
	axis  int
	shape []int
}{
	{"10 classes", 0, []int{10}},
	{"1 class", 0, []int{1}},
	{"1000 classes", 0, []int{1000}},
	{"channels of 3x2", 0, []int{5, 3, 2}},
	{"last axis", 2, []int{2, 3, 7}},
	{"130 channels of 5x7", 0, []int{130, 5, 7}},
	{"middle axis", 1, []int{4, 16, 37}},
}

// activationProbes returns the probes of all activations, prelu and the softmaxes.
func activationProbes() []probe {
	p := []probe{
		{"5 channels", graph.Prelu, nil, []operand{rows(5, 3, 2).filledBy(fewValues), whole(5)}, rounded},
		{"5 channels", graph.PreluGradInput, nil, []operand{rows(5, 3, 2).filledBy(fewValues), whole(5), rows(5,
			3, 2)},
			rounded},
		{"5 channels", graph.PreluGradSlope, nil, []operand{rows(5, 3, 2), rows(5, 3, 2)}, products(18)},
	}
	p = append(p, activated(graph.Relu, rounded)...)
	p = append(p, activated(graph.Relu6, rounded)...)
	p = append(p, activated(graph.LeakyRelu, rounded, "alpha", 0.1)...)
	p = append(p, activated(graph.Elu, function, "alpha", 1.5)...)
	p = append(p, activated(graph.Sigmoid, function)...)
	p = append(p, activated(graph.HardSigmoid, blended, "alpha", 0.25, "beta", 0.5)...)
	p = append(p, activated(graph.Silu, blended)...)
	p = append(p, activated(graph.HardSwish, blended)...)
	p = append(p, activated(graph.Tanh, function)...)
	p = append(p, activated(graph.Softplus, function)...)
	p = append(p, activated(graph.Erf, function)...)
	p = append(p, activated(graph.Gelu, blended)...)
	p = append(p, activated(graph.GeluTanh, blended)...)
	for _, o := range []graph.Op{graph.Gelu, graph.GeluTanh} {
		p = append(p, probe{"the half last", o, []any{"halve_last", true}, []operand{rows(35)}, blended})
	}
	p = append(p, activated(graph.Mish, blended)...)
	p = append(p, activated(graph.Clip, rounded, "min", -1.0, "max", 2.0)...)
	for _, s := range softmaxes {
		axis, x := []any{"axis", s.axis}, rows(s.shape...)
		p = append(p,
			probe{s.name, graph.Softmax, axis, []operand{x}, function},
			probe{s.name + ", far apart", graph.Softmax, axis, []operand{x.filledBy(spread)}, blended},
			probe{s.name, graph.LogSoftmax, axis, []operand{x}, blended},
			probe{s.name, graph.SoftmaxGrad, axis, []operand{x, x}, products(max(s.shape[s.axis], 8))},
			probe{s.name, graph.LogSoftmaxGrad, axis, []operand{x, x}, products(max(s.shape[s.axis], 8))})
	}
	return p
}
