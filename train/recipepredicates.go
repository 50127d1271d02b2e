package train

import (
	"github.com/bnctl/bnctl/data"
)                          // optimizers lists the optimizers by name.
func optimizers() []string { return []string{"sgd", "adam", "adamw", "lars"} } // averages reports whether the template's weights are averages. No step has computed
// statistics with these weights.
func (r *Recipe) averages() bool {
	period, _ := r.WeightSync.Period()
	return r.EMA > 0 || period > 1
}

// mixes reports whether the recipe's augmentation mixes samples. Check has refused an
// invalid one.
func (r *Recipe) mixes() bool {
	a, err := data.ParseAugment(r.Augment)
	return err == nil && a.Mixes()
}

// local reports whether replicas have separate weights.
func (r *Recipe) local() bool {
	_, ok := r.WeightSync.Period()
	return ok
}

// perReplicaGradients reports whether gradients are returned for each replica, and updates
// read them from the state.
func (r *Recipe) perReplicaGradients() bool {
	_, stale := r.WeightSync.Span()
	return stale
}
