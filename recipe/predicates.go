package recipe

import "github.com/bnctl/bnctl/data/augmentation"

// Optimizers lists the optimizers by name.
func Optimizers() []string { return []string{"sgd", "adam", "adamw", "lars"} }

// AveragesWeights reports whether the template's weights are averages. No step has computed
// statistics with these weights.
func (r *Recipe) AveragesWeights() bool {
	period, _ := r.WeightSync.Period()
	return r.EMA > 0 || period > 1
}

// MixesSamples reports whether the recipe's augmentation mixes samples. Check has refused an
// invalid one.
func (r *Recipe) MixesSamples() bool {
	a, err := augmentation.Parse(r.Augment)
	return err == nil && a.Mixes()
}

// HasSeparateWeights reports whether replicas have separate weights.
func (r *Recipe) HasSeparateWeights() bool {
	_, ok := r.WeightSync.Period()
	return ok
}

// HasLateGradients reports whether gradients are returned for each replica, and updates
// read them from the state.
func (r *Recipe) HasLateGradients() bool {
	_, stale := r.WeightSync.Span()
	return stale
}
