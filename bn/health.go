package bn

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Norm is a batch norm as a file of any format holds it.
type Norm struct {
	Name           string
	Mean, Variance tensor.Tensor // f32; the zero Tensor if the file has no such tensor
	Gamma, Beta    tensor.Tensor // f32; the zero Tensor if the layer has no such tensor
	Updates        int64         // how often the statistics were updated; -1 if unknown
	Eps            float64       // 0 if unknown
	Decay          float64       // weight of the old value; 0 if unknown
}

// Severity separates faults from conditions that healthy models may have.
type Severity string

// These are the severities.
const (
	Fault   Severity = "fault"   // the layer cannot predict properly
	Warning Severity = "warning" // real, healthy models have this too
)

// Finding is a fact about a layer that a person should know.
type Finding struct {
	Layer    string   `json:"layer"`    // Norm.Name
	Channels []int    `json:"channels"` // nil: all channels, or the problem does not concern channels
	Problem  string   `json:"problem"`  // a sentence
	Severity Severity `json:"severity"`
	Advice   string   `json:"advice"` // what to do
	// Reestimate reports whether estimating the statistics again from data repairs the fault.
	Reestimate bool `json:"reestimate,omitempty"`
}

// Examine checks the statistics of a file's batch norms and returns its findings layer by layer, or
// nil if all layers are healthy. Zero variances are a warning: they occur in healthy models, in
// channels that are never active. Statistics that were never updated are also a warning if no batch
// norm of the model was ever trained, because they match the untrained weights.
func Examine(norms []Norm) []Finding {
	var found []Finding
	trained := !Initial(norms)
	for _, n := range norms {
		found = append(found, n.examine(trained)...)
	}
	return append(found, counters(norms)...)
}

// Initial reports whether all norms have the values of new layers: the model was never trained.
func Initial(norms []Norm) bool {
	return !slices.ContainsFunc(norms, func(n Norm) bool { return !n.initial() })
}

// initial reports whether all tensors of n have the values of a new layer.
func (n *Norm) initial() bool {
	return n.incomplete() == "" && allEqual(n.Mean.F32(), 0) && allEqual(n.Variance.F32(), 1) &&
		n.Updates <= 0 &&
		!n.Gamma.IsZero() && allEqual(n.Gamma.F32(), 1) && (n.Beta.IsZero() || allEqual(n.Beta.F32(), 0))
}

// examine checks one batch norm. trained reports whether any batch norm of the file was trained.
func (n *Norm) examine(trained bool) []Finding {
	if problem := n.incomplete(); problem != "" {
		return []Finding{n.allChannels(Fault, problem,
			remedy{"the file is damaged or was cut apart; take another copy, or " + reestimate.advice, true})}
	}
	mean, variance := n.Mean.F32(), n.Variance.F32()
	switch {
	case !trained:
		return []Finding{n.allChannels(Warning, "as it was initialised, mean 0, variance 1, gamma 1 and beta 0, "+
			"like every batch norm of the file: the model was never trained",
			remedy{"train it before it is used", false})}
	case allEqual(mean, 0) && allEqual(variance, 1):
		return []Finding{n.allChannels(Fault, "mean 0 and variance 1 throughout: never updated", reestimate)}
	case allEqual(mean, 0) && allEqual(variance, 0):
		return []Finding{n.allChannels(Fault, "mean and variance 0 throughout: no data ever came through",
			reestimate)}
	case allEqual(variance, 0) && !slices.ContainsFunc(mean, notFinite):
		return []Finding{n.allChannels(Fault, "variance 0 throughout, with means that are not 0: every channel is "+
			"a "+
			"constant, or the variances were lost", reestimate)}
	}
	var found []Finding
	for _, s := range symptoms {
		if at := indicesWhere(s.values(n), s.has); len(at) > 0 {
			found = append(found, Finding{n.Name, at, s.problem, s.severity, s.remedy.advice, s.remedy.reestimate})
		}
	}
	if slices.ContainsFunc(found, func(f Finding) bool { return f.Severity == Fault }) {
		return found // the fault matters more than too few updates
	}
	return append(found, n.underTrained()...)
}

// allChannels returns a finding about all channels of n.
func (n *Norm) allChannels(s Severity, problem string, r remedy) Finding {
	return Finding{n.Name, nil, problem, s, r.advice, r.reestimate}
}

// Stale returns the finding that the statistics of a layer, or a tensor of it, must be estimated
// again.
func Stale(layer, problem string) Finding {
	return Finding{layer, nil, problem, Fault, reestimate.advice, true}
}

// incomplete returns a sentence about missing tensors or wrong shapes, or "".
func (n *Norm) incomplete() string {
	switch {
	case n.Mean.IsZero() && n.Variance.IsZero():
		return "running mean and variance are missing"
	case n.Mean.IsZero():
		return "the running mean is missing"
	case n.Variance.IsZero():
		return "the running variance is missing"
	}
	for _, t := range []tensor.Tensor{n.Mean, n.Variance, n.Gamma, n.Beta} {
		if !t.IsZero() && (t.DType != tensor.F32 || len(t.Shape) != 1 || !slices.Equal(t.Shape, n.Mean.Shape)) {
			return fmt.Sprintf("shapes do not fit: mean %v, variance %v, gamma %s, beta %s", n.Mean, n.Variance,
				orNone(n.Gamma), orNone(n.Beta))
		}
	}
	return ""
}

// orNone describes a tensor that a batch norm need not have.
func orNone(t tensor.Tensor) string {
	if t.IsZero() {
		return "none"
	}
	return t.String()
}

// underTrained warns of running averages that still contain much of their initial values.
func (n *Norm) underTrained() []Finding {
	if n.Updates <= 0 || n.Decay <= 0 {
		return nil
	}
	left := math.Pow(n.Decay, float64(n.Updates))
	if left < maxInitialWeight {
		return nil
	}
	after := fmt.Sprintf("after %s with decay %g", problem.Plural(int(n.Updates), "update"), n.Decay)
	return []Finding{n.allChannels(Warning, fmt.Sprintf(
		"%s the statistics are still %.0f %% their initial values",
		after, 100*left), reestimate)}
}

// counters warns of layers that were updated not as often as the first layer.
func counters(norms []Norm) []Finding {
	var found []Finding
	first := slices.IndexFunc(norms, func(n Norm) bool { return n.Updates >= 0 })
	for i := first + 1; first >= 0 && i < len(norms); i++ {
		if n := norms[i]; n.Updates >= 0 && n.Updates != norms[first].Updates {
			updated := fmt.Sprintf("updated %s, %s %s", problem.Plural(int(n.Updates), "time"), norms[first].Name,
				problem.Plural(int(norms[first].Updates), "time"))
			found = append(found, n.allChannels(Warning, updated,
				remedy{"the layer was frozen for a while, or is of another model", false}))
		}
	}
	return found
}
