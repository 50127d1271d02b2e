package devicetest

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

var (
	f64      = tensor.F64
	eps      = []any{"eps", 1e-3}
	perBatch = []any{"eps", 1e-3, "over", "batch"}
	perRepl  = []any{"eps", 1e-3, "over", "replica"}
)

// moment returns a whole or replica operand with moments of n values. channels is the number of
// channels.
func moment(o func(...int) operand, channels int, n float64) operand {
	return o(1 + 2*channels).withType(f64).filledBy(momentsOf(n))
}

// gradSums returns the operand of a gradient with the sums S1 and S2 of each channel.
func gradSums(o func(...int) operand, channels int) operand { return o(2 * channels).withType(f64) }

// Values that equal the rounded mean: subtracting the mean leaves the rounding error of the mean.
var (
	means          = listed(0.1, -1.7, 1e-3)
	momentsAtMeans = whole(7).withType(f64).filledBy(listed(36, 0.1, -1.7, 1e-3, 40, 50, 60))
)

var normProbes = []probe{
	{"5 channels of 3x2", graph.Moments, nil, []operand{rows(5, 3, 2)}, blended},
	{"16 channels of 9x9", graph.Moments, nil, []operand{rows(16, 9, 9)}, blended},
	{"17 channels, no trailing axes", graph.Moments, nil, []operand{rows(17)}, blended},
	{"7 channels", graph.RunningMoments, nil, []operand{whole(7), whole(7).filledBy(positive)}, bits},
	{"enough values", graph.SelectMoments, []any{"min", 2},
		[]operand{moment(replica, 3, 2), moment(whole, 3, -1)}, bits},
	{"too few values", graph.SelectMoments, []any{"min", 3},
		[]operand{moment(replica, 3, 2), moment(whole, 3, -1)}, bits},

	{"over batch, 5 channels of 3x2", graph.Normalise, perBatch,
		[]operand{rows(5, 3, 2), moment(whole, 5, 36), whole(5), whole(5)}, blended},
	{"over batch, 16 channels of 5x7", graph.Normalise, perBatch,
		[]operand{rows(16, 5, 7), moment(whole, 16, 210), whole(16), whole(16)}, blended},
	{"over batch, constant", graph.Normalise, perBatch,
		[]operand{rows(6, 2, 2), moment(whole, 6, -1), whole(6), whole(6)}, blended},
	{"over replica", graph.Normalise, perRepl,
		[]operand{rows(19, 2, 2), moment(replica, 19, 8), whole(19), whole(19)}, blended},

	{"values at the mean", graph.Normalise, perBatch,
		[]operand{rows(3).filledBy(means), momentsAtMeans, whole(3), whole(3).filledBy(listed(0))}, blended},

	{"over batch", graph.NormaliseGradSums, []any{"over", "batch"},
		[]operand{rows(5, 3, 2), rows(5, 3, 2), moment(whole, 5, 36)}, blended},
	{"over batch, 32 channels of 6x6", graph.NormaliseGradSums, []any{"over", "batch"},
		[]operand{rows(32, 6, 6), rows(32, 6, 6), moment(whole, 32, 216)}, blended},
	{"over replica", graph.NormaliseGradSums, []any{"over", "replica"},
		[]operand{rows(18), rows(18), moment(replica, 18, 3)}, blended},

	{"values at the mean", graph.NormaliseGradInput, perBatch,
		[]operand{rows(3).filledBy(means), rows(3).filledBy(listed(0)), momentsAtMeans,
			whole(6).withType(f64).filledBy(listed(0, 0, 0, 3, 4, 5)), whole(3)}, blended},
	{"over batch", graph.NormaliseGradInput, perBatch,
		[]operand{rows(5, 3, 2), rows(5, 3, 2), moment(whole, 5, 36), gradSums(whole, 5), whole(5)}, blended},
	{"over batch, 16 channels", graph.NormaliseGradInput, perBatch,
		[]operand{rows(16, 4, 3), rows(16, 4, 3), moment(whole, 16, 72), gradSums(whole, 16), whole(16)}, blended},
	{"over batch, constant", graph.NormaliseGradInput, perBatch,
		[]operand{rows(5, 3, 2), rows(5, 3, 2), moment(whole, 5, -1), gradSums(whole, 5), whole(5)}, blended},
	{"over replica", graph.NormaliseGradInput, perRepl,
		[]operand{rows(5, 3, 2), rows(5, 3, 2), moment(replica, 5, 12), gradSums(replica, 5), whole(5)}, blended},

	{"of the batch", graph.NormaliseGradParams, eps, []operand{moment(whole, 9, 36), gradSums(whole, 9)},
		rounded},
	{"of nothing", graph.NormaliseGradParams, eps,
		[]operand{moment(whole, 3, 0), gradSums(whole, 3).filledBy(listed(0))}, rounded},
	{"constant, sums of replicas", graph.NormaliseGradParams, eps,
		[]operand{moment(whole, 9, -1), gradSums(replica, 9)}, rounded},
	{"of replicas", graph.NormaliseGradParams, eps, []operand{moment(replica, 9, 5), gradSums(replica, 9)},
		rounded},

	{"5 channels of 3x2", graph.BatchNorm, eps,
		[]operand{rows(5, 3, 2), whole(5), whole(5), whole(5), whole(5).filledBy(positive)}, blended},
	{"16 channels of 4x5", graph.BatchNorm, eps,
		[]operand{rows(16, 4, 5), whole(16), whole(16), whole(16), whole(16).filledBy(positive)}, blended},
	{"values at the mean", graph.BatchNorm, eps,
		[]operand{rows(3).filledBy(means), whole(3), whole(3).filledBy(listed(0)), whole(3).filledBy(means),
			whole(3).filledBy(positive)}, blended},
	{"33 channels, no trailing axes", graph.BatchNorm, eps,
		[]operand{rows(33), whole(33), whole(33), whole(33), whole(33).filledBy(positive)}, blended},
}
