package bn

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Norm is a batch norm as a file holds it, whatever the file.
type Norm struct {
	Name           string
	Mean, Variance tensor.Tensor // f32; the zero Tensor where the file has none
	Gamma, Beta    tensor.Tensor // f32; the zero Tensor if the layer has none
	Updates        int64         // how often the statistics were updated; -1 if unknown
	Eps            float64       // 0 if unknown
	Decay          float64       // weight of the old value; 0 if unknown
}

// Severity distinguishes what cannot be right from what healthy models may
// have.
type Severity string

// The severities.
const (
	Fault   Severity = "fault"   // the layer cannot predict properly
	Warning Severity = "warning" // real, healthy models have this too
)

// Finding is something about a layer that a person should know.
type Finding struct {
	Layer    string   `json:"layer"`    // Norm.Name
	Channels []int    `json:"channels"` // nil: all of them, or not a matter of channels
	Problem  string   `json:"problem"`  // what is wrong, as a sentence
	Severity Severity `json:"severity"`
	Advice   string   `json:"advice"` // what to do
	// Reestimate says that estimating the statistics again over data repairs
	// the fault.
	Reestimate bool `json:"reestimate,omitempty"`
}

// Examine checks the statistics of a file's batch norms and returns what is wrong,
// layer by layer in their order; nil if nothing is. Zero variances are a
// warning: they occur in healthy models, in channels that are never active.
// So are statistics that were never updated in a model none of whose batch
// norms was ever trained: they are what goes with such weights.
func Examine(norms []Norm) []Finding {
	var found []Finding
	trained := !Initial(norms)
	for _, n := range norms {
		found = append(found, n.examine(trained)...)
	}
	return append(found, counters(norms)...)
}

// Initial reports whether all norms are as new layers have them: the model was never trained.
func Initial(norms []Norm) bool {
	return !slices.ContainsFunc(norms, func(n Norm) bool { return !n.initial() })
}

// initial reports whether everything of n is as a new layer has it.
func (n *Norm) initial() bool {
	return n.incomplete() == "" && all(n.Mean.F32(), 0) && all(n.Variance.F32(), 1) && n.Updates <= 0 &&
		!n.Gamma.IsZero() && all(n.Gamma.F32(), 1) && (n.Beta.IsZero() || all(n.Beta.F32(), 0))
}

// examine checks one batch norm; trained tells whether any of the file's was trained.
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
	case all(mean, 0) && all(variance, 1):
		return []Finding{n.allChannels(Fault, "mean 0 and variance 1 throughout: never updated", reestimate)}
	case all(mean, 0) && all(variance, 0):
		return []Finding{n.allChannels(Fault, "mean and variance 0 throughout: no data ever came through",
			reestimate)}
	case all(variance, 0) && !slices.ContainsFunc(mean, notFinite):
		return []Finding{n.allChannels(Fault, "variance 0 throughout, with means that are not 0: every channel is "+
			"a "+
			"constant, or the variances were lost", reestimate)}
	}
	var found []Finding
	for _, s := range symptoms {
		if at := where(s.of(n), s.has); len(at) > 0 {
			found = append(found, Finding{n.Name, at, s.problem, s.severity, s.remedy.advice, s.remedy.reestimate})
		}
	}
	if slices.ContainsFunc(found, func(f Finding) bool { return f.Severity == Fault }) {
		return found // what began long ago is not what is wrong
	}
	return append(found, n.underTrained()...)
}

// allChannels returns a finding about all channels of n.
func (n *Norm) allChannels(s Severity, problem string, r remedy) Finding {
	return Finding{n.Name, nil, problem, s, r.advice, r.reestimate}
}

// Stale returns the fault of a layer, or of a tensor of one, whose statistics have to
// be estimated again.
func Stale(layer, problem string) Finding {
	return Finding{layer, nil, problem, Fault, reestimate.advice, true}
}

// incomplete says what is missing or does not fit, "" if nothing is.
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

// underTrained warns of averages that still contain much of their initial values.
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

// counters warns of layers that were updated another number of times than the first.
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
