package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// StatisticsConfig is a way of keeping running statistics, by rule and time of the
// update.
type StatisticsConfig struct {
	Name   string // name of its sets of tensors in checkpoints; "" for the recipe's statistics
	Rule   bn.Rule
	Update bn.Update
}

func (k StatisticsConfig) prefix() string {
	if k.Name == "" {
		return ""
	}
	return extraPrefix + k.Name + "/"
}

// extraPrefix is the prefix of the names of sets and attachments of extra statistics.
const extraPrefix = "beside/"

// running is the running statistics of a run, kept in one of the ways of StatisticsConfig. A step makes new
// running statistics (next), which replace the old ones when the step is committed.
type running interface {
	// next returns the statistics after one more step with these moments, checked with bn.Check. The error is a
	// *bn.NonFinite if float32 does not hold them.
	next(moments []tensor.Tensor) (running, error)
	// Live returns the statistics for normalisation in a replica that is too small.
	Live() (map[string]tensor.Tensor, error)
	// Final returns the statistics for a template made now.
	Final() (map[string]tensor.Tensor, error)
	// pack adds to a checkpoint the data that a resumed run needs: sets and attachments
	// with names that begin with prefix.
	pack(prefix string, k *serialize.Checkpoint) error
	// restore is the inverse of pack.
	restore(prefix string, k *serialize.Checkpoint) error
}

// tracked has running statistics and the rule of their updates.
type tracked struct {
	config  StatisticsConfig
	running running
}

// statistics is the running statistics of a run: the recipe's first, then the extra ones.
// It is empty in frozen mode.
type statistics []tracked

// newStatistics starts the statistics of a recipe, and the extra ones, from a state.
func newStatistics(p *plan, state map[string]tensor.Tensor) (statistics, error) {
	if len(p.layers) == 0 {
		return nil, nil
	}
	var all statistics
	r := p.recipe
	for _, how := range append([]StatisticsConfig{{"", r.BNStats, r.BNUpdate}}, p.config.ExtraStatistics...) {
		if all.has(how.Name) || strings.Contains(how.Name, "/") { // its sets have this name, too
			return nil, fmt.Errorf("extra statistics: %q is not a name, or is given twice", how.Name)
		}
		one, err := newRunningStatistics(p, how, state)
		if err != nil {
			return nil, err
		}
		all = append(all, tracked{how, one})
	}
	return all, nil
}

func (s statistics) has(name string) bool {
	return slices.ContainsFunc(s, func(t tracked) bool { return t.config.Name == name })
}

// newRunningStatistics makes statistics that start from a state.
func newRunningStatistics(p *plan, config StatisticsConfig, state map[string]tensor.Tensor) (running, error) {
	if config.Update == bn.PostHoc {
		r, err := bn.NewReplicas(p.layers, state, p.recipe.StepReplicas())
		return &replicaStatistics{r, config.Rule}, err
	}
	if span, ok := config.Update.Span(); ok {
		a, err := bn.NewAsync(p.layers, state, p.recipe.Seed, span)
		return &asyncStatistics{a}, err
	}
	r, err := bn.New(p.layers, state, p.recipe.BN, config.Rule)
	return &stepStatistics{r}, err
}

// final returns the statistics for a template made now, or nil in frozen mode.
func (s statistics) final() (map[string]tensor.Tensor, error) {
	if len(s) == 0 {
		return nil, nil
	}
	return s[0].running.Final()
}

// next returns all statistics after one more step with these moments.
func (s statistics) next(moments []tensor.Tensor) (statistics, error) {
	next := slices.Clone(s)
	for i, t := range s {
		var err error
		if next[i].running, err = t.running.next(moments); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// extra returns the statistics for a template from all statistics except the recipe's, in order.
func (s statistics) extra() ([]map[string]tensor.Tensor, error) {
	var all []map[string]tensor.Tensor
	for _, t := range s[min(1, len(s)):] {
		final, err := t.running.Final()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.config.Name, err)
		}
		all = append(all, final)
	}
	return all, nil
}

// pack puts all statistics into a checkpoint.
func (s statistics) pack(k *serialize.Checkpoint) error {
	for _, t := range s {
		if err := t.running.pack(t.config.prefix(), k); err != nil {
			return err
		}
	}
	slices.SortFunc(k.Sets, func(a, b serialize.Set) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// restore restores all statistics from a checkpoint.
func (s statistics) restore(k *serialize.Checkpoint) error {
	for _, t := range s {
		if err := t.running.restore(t.config.prefix(), k); err != nil {
			return err
		}
	}
	return nil
}

// stepStatistics is the running statistics that every step changes.
type stepStatistics struct{ values *bn.Statistics }

func (r *stepStatistics) Live() (map[string]tensor.Tensor, error)  { return r.values.Tensors(), nil }
func (r *stepStatistics) Final() (map[string]tensor.Tensor, error) { return r.values.Tensors(), nil }

func (r *stepStatistics) next(moments []tensor.Tensor) (running, error) {
	next, err := r.values.Next(moments)
	return &stepStatistics{next}, err
}

func (r *stepStatistics) pack(prefix string, k *serialize.Checkpoint) error {
	packSet(r.values, prefix+serialize.SetRunning, k)
	return nil
}

func (r *stepStatistics) restore(prefix string, k *serialize.Checkpoint) error {
	return restoreSet(r.values, prefix+serialize.SetRunning, k)
}

func packSet(s *bn.Statistics, name string, k *serialize.Checkpoint) {
	k.Sets = append(k.Sets, serialize.Set{Name: name, Updates: s.Updates(), Tensors: s.Tensors()})
}

func restoreSet(s *bn.Statistics, name string, k *serialize.Checkpoint) error {
	set := k.Set(name)
	if set == nil {
		return fmt.Errorf("checkpoint: the statistics %s are missing", name)
	}
	if err := s.Restore(set.Tensors, set.Updates); err != nil {
		return fmt.Errorf("checkpoint: %s: %w", name, err)
	}
	return nil
}
