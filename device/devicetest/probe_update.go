package devicetest

import "github.com/bnctl/bnctl/graph"

// hyper returns a scalar operand: a hyper-parameter.
func hyper(v float64) operand { return whole().filledBy(listed(v)) }

// tensors returns n operands of one shape, with values over many orders of magnitude.
func tensors(n int, shape ...int) []operand {
	var in []operand
	for range n {
		in = append(in, whole(shape...).filledBy(spread))
	}
	return in
}

var updateProbes = []probe{
	{"momentum, decay", graph.SGD, []any{"momentum", 0.9, "weight_decay", 1e-4},
		append(tensors(3, 5, 7), hyper(0.1)), bits},
	{"nesterov", graph.SGD, []any{"momentum", 0.9, "weight_decay", 5e-4, "nesterov", true},
		append(tensors(3, 131), hyper(0.0123)), bits},
	{"plain", graph.SGD, []any{"momentum", 0.0}, append(tensors(3, 3, 2, 3, 3), hyper(0.1)), bits},
	{"large", graph.SGD, []any{"weight_decay", 1e-4}, append(tensors(3, 64, 129), hyper(0.05)), bits},
	{"kernel of 16 channels", graph.SGD, []any{"weight_decay", 1e-4},
		append(tensors(3, 16, 16, 3, 3), hyper(0.1)), bits},

	{"decay", graph.AdamW, []any{"weight_decay", 0.05}, adam(131, 3), bits},
	{"other betas", graph.AdamW, []any{"beta1", 0.8, "beta2", 0.95, "eps", 1e-6}, adam(1, 1), bits},

	{"decay", graph.LARS, []any{"momentum", 0.9, "weight_decay", 1e-4},
		append(tensors(3, 131), hyper(0.1), hyper(0.002)), bits},
	{"default", graph.EMA, nil, tensors(2, 131), bits},
	{"slow", graph.EMA, []any{"decay", 0.9999}, tensors(2, 3, 5), bits},

	{"1 element", graph.SumSquares, nil, []operand{whole(1)}, bits},
	{"odd length", graph.SumSquares, nil, []operand{whole(131).filledBy(spread)}, bits},
	{"kernel of 16 channels", graph.SumSquares, nil, []operand{whole(32, 16, 3, 3)}, bits},
	{"norms", graph.TrustRatio, []any{"weight_decay", 1e-4}, norms(3.7, 0.02), bits},
	{"zero weight", graph.TrustRatio, nil, norms(0, 1), bits},
	{"zero gradient", graph.TrustRatio, []any{"eta", 0.01}, norms(1, 0), bits},
	{"above", graph.ClipFactor, []any{"max", 1.0}, []operand{hyper(7.3).withType(f64)}, bits},
	{"below", graph.ClipFactor, []any{"max", 1.0}, []operand{hyper(0.3).withType(f64)}, bits},
	{"zero", graph.ClipFactor, []any{"max", 1.0}, []operand{hyper(0).withType(f64)}, bits},
}

// adam returns the operands of AdamW. The second moments are positive.
func adam(shape ...int) []operand {
	return append(tensors(3, shape...), whole(shape...).filledBy(positive), hyper(0.001), hyper(0.0023),
		hyper(1.7))
}

func norms(a, b float64) []operand { return []operand{hyper(a).withType(f64), hyper(b).withType(f64)} }
