package main

import (
	"math"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// templateNorms returns the batch norms of a model, as bn.Examine takes them.
func templateNorms(m *models.Model) []bn.Norm {
	var norms []bn.Norm
	f := m.Graph.Main
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op != graph.BatchNorm {
			continue
		}
		state := func(k int) tensor.Tensor { return m.State[f.Values[n.In[k]].State] }
		norms = append(norms, bn.Norm{Name: f.NodeName(n), Gamma: state(1), Mean: state(3), Variance: state(4),
			Updates: -1, Decay: n.Float("decay")})
	}
	return norms
}

// health says in a word what bn.Examine found: healthy, odd or sick.
func health(norms []bn.Norm) string {
	word := "healthy"
	for _, f := range bn.Examine(norms) {
		if f.Severity == bn.Fault {
			return "sick"
		}
		word = "odd"
	}
	return word
}

// normEvent describes the statistics of a batch norm.
type normEvent struct {
	Name        string  `json:"name"`
	Channels    int     `json:"channels"`
	Eps         float64 `json:"eps"`
	Decay       float64 `json:"decay"`
	MeanAbsMax  float64 `json:"mean_abs_max"`
	VarianceMin float64 `json:"var_min"`
	VarianceMax float64 `json:"var_max"`
	NonFinite   int     `json:"non_finite"`
}

// newNormEvent describes n. eps is 0 if it is not known.
func newNormEvent(n bn.Norm, eps float64) normEvent {
	e := normEvent{Name: n.Name, Eps: eps, Decay: n.Decay, VarianceMin: math.MaxFloat64}
	if !n.Mean.IsZero() {
		e.Channels = n.Mean.Count()
	}
	for _, v := range finite(n.Mean, &e.NonFinite) {
		e.MeanAbsMax = max(e.MeanAbsMax, math.Abs(v))
	}
	for _, v := range finite(n.Variance, &e.NonFinite) {
		e.VarianceMin, e.VarianceMax = min(e.VarianceMin, v), max(e.VarianceMax, v)
	}
	e.VarianceMin = min(e.VarianceMin, e.VarianceMax)
	return e
}

// templateNormEvents describes the batch norms of a model.
func templateNormEvents(m *models.Model) []normEvent {
	eps := map[string]float64{}
	f := m.Graph.Main
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Op == graph.BatchNorm {
			eps[f.NodeName(n)] = n.Float("eps")
		}
	}
	events := []normEvent{}
	for _, n := range templateNorms(m) {
		events = append(events, newNormEvent(n, eps[n.Name]))
	}
	return events
}

// finite returns the elements that are finite and counts the others.
func finite(t tensor.Tensor, others *int) []float64 {
	if t.IsZero() {
		return nil
	}
	var out []float64
	for _, v := range t.F32() {
		if x := float64(v); x-x == 0 {
			out = append(out, x)
		} else {
			*others++
		}
	}
	return out
}
