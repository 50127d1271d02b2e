package bn

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// These are the thresholds of the warnings.
const (
	tinyVariance     = 1e-30 // a channel that has been silent for thousands of steps
	hugeVariance     = 1e6   // the largest in healthy published models is 3e5
	tinyGamma        = 1e-4  // the channel hardly matters any more
	maxInitialWeight = 0.05  // weight of the initial 0 and 1 that is still in the average
)

// remedy is advice about a symptom.
type remedy struct {
	advice     string
	reestimate bool // Finding.Reestimate
}

var (
	reestimate = remedy{"re-estimate the statistics over the data of the training", true}
	harmless   = remedy{"nothing to do if the accuracy is as expected", false}
)

// symptom is a condition of a channel, with its finding.
type symptom struct {
	values   func(*Norm) []float32
	has      func(float32) bool
	severity Severity
	problem  string
	remedy   remedy
}

func means(n *Norm) []float32     { return n.Mean.F32() }
func variances(n *Norm) []float32 { return n.Variance.F32() }

func gammas(n *Norm) []float32 {
	if n.Gamma.IsZero() {
		return nil
	}
	return n.Gamma.F32()
}

func notFinite(v float32) bool { return !tensor.IsFinite(float64(v)) }

// symptoms lists the symptoms in the order of reports. A channel has at most one symptom per
// tensor.
var symptoms = []symptom{
	{means, notFinite, Fault, "the mean is not finite", reestimate},
	{variances, notFinite, Fault, "the variance is not finite", reestimate},
	{variances, func(v float32) bool { return v < 0 && !notFinite(v) }, Fault, "the variance is negative",
		reestimate},
	{variances, func(v float32) bool { return v == 0 }, Warning,
		"the variance is exactly 0: these channels were never active", harmless},
	{variances, func(v float32) bool { return v > 0 && v < tinyVariance }, Warning,
		fmt.Sprintf("the variance is below %g: these channels fell silent long ago", float64(tinyVariance)),
		harmless},
	{variances, func(v float32) bool { return v > hugeVariance && !notFinite(v) }, Warning,
		fmt.Sprintf("the variance is above %g: activations are very large", float64(hugeVariance)),
		remedy{"look for input that was not scaled as in training", false}},
	{gammas, notFinite, Fault, "gamma is not finite",
		remedy{"take an earlier checkpoint; statistics cannot mend weights", false}},
	{gammas, func(v float32) bool { return v < tinyGamma && v > -tinyGamma }, Warning,
		fmt.Sprintf("gamma is below %g: these channels hardly matter", float64(tinyGamma)), harmless},
}

func allEqual(v []float32, want float32) bool {
	return len(v) > 0 && !slices.ContainsFunc(v, func(x float32) bool { return x != want })
}

// indicesWhere returns the indexes of the elements for which p returns true.
func indicesWhere(v []float32, p func(float32) bool) []int {
	var at []int
	for i, x := range v {
		if p(x) {
			at = append(at, i)
		}
	}
	return at
}
