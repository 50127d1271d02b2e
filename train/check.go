package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
)

// Check reports the first field of a recipe that makes no sense, with the
// flag that sets it and what to do.
func (r *Recipe) Check() error {
	if err := r.checkSizes(); err != nil {
		return err
	}
	if err := r.checkNames(); err != nil {
		return err
	}
	for _, f := range []struct {
		flag    string
		v       float64
		lo, hi  float64
		wording string
	}{
		{"--lr", r.LR, math.SmallestNonzeroFloat64, 1e6, "more than 0"},
		{"--momentum", r.Momentum, 0, 1 - 1e-9, "at least 0 and less than 1"},
		{"--weight-decay", r.WeightDecay, 0, 1e6, "at least 0"},
		{"--warmup", r.Warmup, 0, 1e6, "at least 0"},
		{"--clip-norm", r.ClipNorm, 0, 1e30, "at least 0"},
		{"--label-smoothing", r.LabelSmoothing, 0, 1 - 1e-9, "at least 0 and less than 1"},
		{"--ema", r.EMA, 0, 1 - 1e-9, "at least 0 and less than 1"},
	} {
		if !(f.v >= f.lo && f.v <= f.hi) {
			return fmt.Errorf("%s %g: want %s", f.flag, f.v, f.wording)
		}
	}
	return r.checkTogether()
}

func (r *Recipe) checkSizes() error {
	for _, f := range []struct {
		flag string
		n    int
		low  int
	}{
		{"--batch", r.Batch, 1}, {"--replicas", r.Replicas, 1}, {"--accumulate", r.Accumulate, 1},
		{"--epochs", r.Epochs, 0}, {"--steps", r.Steps, 0}, {"--bn-precise", r.BNPrecise, 0},
		{"--patience", r.Patience, 0}, {"--eval-every", r.EvalEvery, 1}, {"samples of --data:", r.Data.Samples, 1},
	} {
		if f.n < f.low || f.n > math.MaxInt32 {
			return fmt.Errorf("%s %d: want at least %d", f.flag, f.n, f.low)
		}
	}
	if r.Batch < r.Replicas {
		return fmt.Errorf("--batch %d is smaller than --replicas %d: some replicas would never see a sample; "+
			"use --replicas %d", r.Batch, r.Replicas, r.Batch)
	}
	if (r.Epochs == 0) == (r.Steps == 0) {
		return fmt.Errorf("give one of --epochs and --steps")
	}
	if r.StepsPerEpoch() == 0 {
		return fmt.Errorf("--tail drop leaves nothing: the data has %d samples, a batch %d; "+
			"use --batch %d or --tail keep",
			r.Data.Samples, r.StepBatch(), r.Data.Samples)
	}
	return nil
}

func (r *Recipe) checkNames() error {
	if _, err := parallel.ParseTail(string(r.Tail)); err != nil {
		return err
	}
	if _, err := bn.ParseMode(string(r.BN)); err != nil {
		return err
	}
	if _, err := bn.ParseRule(string(r.BNStats)); err != nil {
		return err
	}
	if _, err := bn.ParseUpdate(string(r.BNUpdate)); err != nil {
		return err
	}
	if _, err := parallel.ParseSync(string(r.WeightSync)); err != nil {
		return err
	}
	if _, err := data.ParseAugment(r.Augment); err != nil {
		return err
	}
	for _, f := range []struct {
		flag, v string
		options []string
	}{
		{"--optimizer", r.Optimizer, Optimizers()},
		{"--precision", r.Precision, device.Precisions()},
		{"--bn-min", r.BNMin, []string{"refuse", "running"}},
		{"--save", r.Save, []string{"last", "best:accuracy", "best:loss"}},
	} {
		if !slices.Contains(f.options, f.v) {
			return fmt.Errorf("%s %q: want one of %q", f.flag, f.v, f.options)
		}
	}
	_, err := NewSchedule(r)
	return err
}

// checkTogether refuses options that contradict each other.
func (r *Recipe) checkTogether() error {
	if err := r.checkStatistics(); err != nil {
		return err
	}
	_, late := r.WeightSync.Span()
	switch {
	case r.local() && r.BN == bn.Sync:
		return fmt.Errorf("--weight-sync %s leaves each replica on its own, and --bn sync makes all meet "+
			"in every layer: add --bn replica", r.WeightSync)
	case late && r.BN == bn.Sync:
		return fmt.Errorf("--weight-sync %s lets replicas come late, and --bn sync makes all wait "+
			"for each other in every layer: add --bn replica", r.WeightSync)
	case r.BN == bn.Frozen && r.BNPrecise > 0:
		return fmt.Errorf("--bn frozen keeps the statistics as they are; --bn-precise %d would replace them: "+
			"drop one of them", r.BNPrecise)
	case r.Validation.Samples == 0 && r.Save != "last":
		return fmt.Errorf("--save %s needs validation data: add --val", r.Save)
	case r.Validation.Samples == 0 && r.Patience > 0:
		return fmt.Errorf("--patience %d needs validation data: add --val", r.Patience)
	case r.Nesterov && r.Optimizer != "sgd":
		return fmt.Errorf("--nesterov has a meaning only with --optimizer sgd")
	}
	return nil
}

// checkStatistics refuses ways of keeping statistics that contradict each other.
func (r *Recipe) checkStatistics() error {
	_, async := r.BNUpdate.Span()
	switch {
	case r.BN != bn.Replica && r.BNStats != bn.Pooled:
		return fmt.Errorf("--bn-stats %s has a meaning only with --bn replica", r.BNStats)
	case r.BN != bn.Replica && r.BNMin == "running":
		return fmt.Errorf("--bn-min running has a meaning only with --bn replica")
	case r.BN != bn.Replica && r.BNUpdate != bn.EveryStep:
		return fmt.Errorf("--bn-update %s has a meaning only with --bn replica: with --bn %s "+
			"replicas have no statistics of their own; add --bn replica or drop it", r.BNUpdate, r.BN)
	case async && r.BNStats != bn.Pooled:
		return fmt.Errorf("--bn-update %s merges what it hears of exactly; --bn-stats %s contradicts that: "+
			"drop one of them", r.BNUpdate, r.BNStats)
	case r.BNPrecisePlain && r.BNPrecise == 0 && !r.averages():
		return fmt.Errorf("--bn-precise-plain has a meaning only where statistics are estimated anew: " +
			"add --bn-precise N or drop it")
	case r.BNUpdate == bn.PostHoc && r.BNMin == "running":
		return fmt.Errorf("--bn-update posthoc keeps statistics on each replica, and --bn-min running is for " +
			"replicas that have none: use --bn-update step")
	}
	return nil
}

// EndsInSoftmax reports whether a model's first output are probabilities of
// classes, by the rule that training goes by.
func EndsInSoftmax(g *graph.Graph) bool {
	op, _ := g.Main.Ending(0)
	return op == graph.Softmax
}
