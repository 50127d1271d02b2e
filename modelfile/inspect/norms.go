package inspect

import (
	"math"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

// Norm has the figures of a batch norm.
type Norm struct {
	Name        string   `json:"name"`
	Channels    int      `json:"channels"`
	Eps         *float64 `json:"eps"` // nil if it is not in the file
	Decay       *float64 `json:"decay"`
	MeanAbsMax  float64  `json:"mean_abs_max"`
	VarianceMin float64  `json:"var_min"`
	VarianceMax float64  `json:"var_max"`
	NonFinite   int      `json:"non_finite"` // means and variances that the figures above leave out
}

func norms(layers []bn.Norm) []Norm {
	list := []Norm{}
	for _, n := range layers {
		list = append(list, normOf(n))
	}
	return list
}

func normOf(n bn.Norm) Norm {
	e := Norm{Name: n.Name, Eps: knownValue(n.Eps), Decay: knownValue(n.Decay), VarianceMin: math.MaxFloat64}
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

// knownValue returns a number of a batch norm; nil if it is not known.
func knownValue(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return &v
}

// finite returns the elements that are finite and counts the others.
func finite(t tensor.Tensor, skipped *int) []float64 {
	if t.IsZero() {
		return nil
	}
	var out []float64
	for _, v := range t.F32() {
		if x := float64(v); tensor.IsFinite(x) {
			out = append(out, x)
		} else {
			*skipped++
		}
	}
	return out
}
