package recipe

// Optimizers lists the optimizers by name.
func Optimizers() []string { return []string{"sgd", "adam", "adamw", "lars"} }

// AveragesWeights reports whether the template's weights are averages. In that case no step has
// computed statistics with the weights of the template.
func (r *Recipe) AveragesWeights() bool {
	period, _ := r.WeightSync.Period()
	return r.EMA > 0 || period > 1
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
