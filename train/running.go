package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// Keeping is one way of keeping running statistics.
type Keeping struct {
	Name   string // of its sets in checkpoints; that of the recipe has none
	Rule   bn.Rule
	Update bn.Update
}

func (k Keeping) prefix() string {
	if k.Name == "" {
		return ""
	}
	return "beside/" + k.Name + "/"
}

// running is the running statistics of a run, kept in one of the ways of
// Keeping. A step makes others (next), which become those of the run when it is
// committed.
type running interface {
	// next returns them after one more step with these moments, checked with
	// bn.Check. The error is a *bn.NonFinite if float32 does not hold them.
	next(moments []tensor.Tensor) (running, error)
	// Live returns what a replica that is too small normalises with.
	Live() (map[string]tensor.Tensor, error)
	// Final returns what a template made now gets.
	Final() (map[string]tensor.Tensor, error)
	// pack adds to a checkpoint what a resumed run needs: sets and attachments
	// whose names begin with prefix.
	pack(prefix string, k *serialize.Checkpoint) error
	// restore is the inverse of pack.
	restore(prefix string, k *serialize.Checkpoint) error
}

// kept is statistics and how they are kept.
type kept struct {
	Keeping
	running
}

// keep starts the statistics of the recipe, and those beside it.
func (s *Session) keep() error {
	if len(s.layers) == 0 {
		return nil
	}
	r := s.recipe
	for _, how := range append([]Keeping{{"", r.BNStats, r.BNUpdate}}, s.config.Besides...) {
		if err := s.checkBeside(how); err != nil {
			return err
		}
		statistics, err := s.running(how)
		if err != nil {
			return err
		}
		s.kept = append(s.kept, kept{how, statistics})
	}
	return nil
}

// checkBeside refuses names that cannot be told apart in a checkpoint.
func (s *Session) checkBeside(how Keeping) error {
	twice := slices.ContainsFunc(s.kept, func(k kept) bool { return k.Name == how.Name })
	if twice || strings.Contains(how.Name, "/") {
		return fmt.Errorf("statistics beside those of the recipe: %q is no name, or there twice", how.Name)
	}
	return nil
}

// running makes statistics that start from the state of the session.
func (s *Session) running(how Keeping) (running, error) {
	if how.Update == bn.PostHoc {
		r, err := bn.NewReplicas(s.layers, s.state, s.recipe.StepReplicas())
		return &ownRunning{r, how.Rule}, err
	}
	if span, ok := how.Update.Span(); ok {
		a, err := bn.NewAsync(s.layers, s.state, s.recipe.Seed, span)
		return &lateRunning{a}, err
	}
	r, err := bn.New(s.layers, s.state, s.recipe.BN, how.Rule)
	return &stepRunning{r}, err
}

// statistics returns the running statistics that a template made now gets;
// none in frozen mode.
func (s *Session) statistics() (map[string]tensor.Tensor, error) {
	if len(s.kept) == 0 {
		return nil, nil
	}
	return s.kept[0].Final()
}

// nextKept returns all statistics after one more step with these moments.
func (s *Session) nextKept(moments []tensor.Tensor) ([]kept, error) {
	next := slices.Clone(s.kept)
	for i, k := range s.kept {
		var err error
		if next[i].running, err = k.next(moments); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// Beside returns the statistics of Config.Besides as they stand, in that
// order: what a template that is made with them gets.
func (s *Session) Beside() ([]map[string]tensor.Tensor, error) {
	var all []map[string]tensor.Tensor
	for _, k := range s.kept[min(1, len(s.kept)):] {
		final, err := k.Final()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Name, err)
		}
		all = append(all, final)
	}
	return all, nil
}

// packRunning puts all statistics into a checkpoint.
func (s *Session) packRunning(k *serialize.Checkpoint) error {
	for _, kept := range s.kept {
		if err := kept.pack(kept.prefix(), k); err != nil {
			return err
		}
	}
	slices.SortFunc(k.Sets, func(a, b serialize.Set) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// restoreRunning takes all statistics from a checkpoint.
func (s *Session) restoreRunning(k *serialize.Checkpoint) error {
	for _, kept := range s.kept {
		if err := kept.restore(kept.prefix(), k); err != nil {
			return err
		}
	}
	return nil
}

// stepRunning changes with every step.
type stepRunning struct{ *bn.Statistics }

func (r *stepRunning) Live() (map[string]tensor.Tensor, error)  { return r.Tensors(), nil }
func (r *stepRunning) Final() (map[string]tensor.Tensor, error) { return r.Tensors(), nil }

func (r *stepRunning) next(moments []tensor.Tensor) (running, error) {
	next, err := r.Next(moments)
	return &stepRunning{next}, err
}

func (r *stepRunning) pack(prefix string, k *serialize.Checkpoint) error {
	packSet(r.Statistics, prefix+serialize.SetRunning, k)
	return nil
}

func (r *stepRunning) restore(prefix string, k *serialize.Checkpoint) error {
	return restoreSet(r.Statistics, prefix+serialize.SetRunning, k)
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
