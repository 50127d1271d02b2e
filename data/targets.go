package data

import (
	"context"
	"math"
)

// Target has the statistics of those numbers of a source that have the same name.
type Target struct {
	Name     string  `json:"name"`
	N        int     `json:"n"` // number of samples with a known number
	Mean     float64 `json:"mean"`
	Std      float64 `json:"std"` // population standard deviation
	Smallest float64 `json:"smallest"`
	Largest  float64 `json:"largest"`
}

// DescribeTargets reads the numbers of all samples in order, in two passes. It returns nil for a source
// without Info.Targets. If no number is known, mean and deviation are 0.
func DescribeTargets(ctx context.Context, src Source) ([]Target, error) {
	info := src.Info()
	all := make([]Target, len(info.Targets))
	for k, name := range info.Targets {
		all[k] = Target{Name: name, Smallest: math.Inf(1), Largest: math.Inf(-1)}
	}
	if len(all) == 0 {
		return nil, nil
	}
	pass := func(visit func(t *Target, v float64)) error {
		for i := range info.Len {
			label, err := src.Label(ctx, i)
			if err != nil {
				return err
			}
			for k, bits := range label {
				if v := Number(bits); v == v {
					visit(&all[k], float64(v))
				}
			}
		}
		return nil
	}
	err := pass(func(t *Target, v float64) {
		t.N++
		t.Mean += v
		t.Smallest, t.Largest = min(t.Smallest, v), max(t.Largest, v)
	})
	for k := range all {
		if t := &all[k]; t.N == 0 {
			t.Smallest, t.Largest = 0, 0
		} else {
			t.Mean /= float64(t.N)
		}
	}
	if err == nil {
		err = pass(func(t *Target, v float64) { t.Std += float64((v - t.Mean) * (v - t.Mean)) })
	}
	for k := range all {
		all[k].Std = math.Sqrt(all[k].Std / float64(max(all[k].N, 1)))
	}
	return all, err
}

// Number returns the number that an element of a label means if Info.Targets is set. The bits of the element
// are a float32. It is NaN if the number is missing.
func Number(label int32) float32 { return math.Float32frombits(uint32(label)) }
