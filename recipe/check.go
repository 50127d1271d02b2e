package recipe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/problem"
)

// Check returns an error for the first invalid field of a recipe: a *problem.Error with
// advice and the name of the option, which is also the name of the command's flag.
func (r *Recipe) Check() error {
	if r == nil || r.Release == "" && r.Batch == 0 {
		return problem.New("recipe", "", "it is empty", "start with recipe.Default")
	}
	if err := r.checkSizes(); err != nil {
		return err
	}
	if err := r.checkNames(); err != nil {
		return err
	}
	for _, f := range []struct {
		option  string
		v       float64
		lo, hi  float64
		wording string
	}{
		{"lr", r.LR, math.SmallestNonzeroFloat64, 1e6, "more than 0 and at most 1000000"},
		{"momentum", r.Momentum, 0, 1 - 1e-9, "at least 0 and less than 1"},
		{"weight-decay", r.WeightDecay, 0, 1e6, "0 to 1000000"},
		{"warmup", r.Warmup, 0, 1e6, "0 to 1000000"},
		{"clip-norm", r.ClipNorm, 0, 1e30, "0 to 1e+30"},
		{"label-smoothing", r.LabelSmoothing, 0, 1 - 1e-9, "at least 0 and less than 1"},
		{"aux-weight", r.AuxWeight, 0, 1000, "0 to 1000"},
		{"ema", r.EMA, 0, 1 - 1e-9, "at least 0 and less than 1"},
	} {
		if !(f.v >= f.lo && f.v <= f.hi) {
			return problem.New(f.option, fmt.Sprint(f.v), "want "+f.wording, "")
		}
	}
	if _, err := r.WeightsOfClasses(0); err != nil {
		return err
	}
	if err := r.checkSampling(); err != nil {
		return err
	}
	if err := r.checkLoss(); err != nil {
		return err
	}
	if _, err := r.lrFactors(); err != nil {
		return err
	}
	return r.checkTogether()
}

func (r *Recipe) checkSizes() error {
	for _, f := range []struct {
		option string
		n      int
		low    int
	}{
		{"batch", r.Batch, 1}, {"replicas", r.Replicas, 1}, {"accumulate", r.Accumulate, 1},
		{"epochs", r.Epochs, 0}, {"steps", r.Steps, 0}, {"bn-precise", r.BNPrecise, 0},
		{"patience", r.Patience, 0}, {"eval-every", r.EvalEvery, 1}, {"qat-ranges", r.QATRanges, 0},
		{"qat-fold", r.QATFold, 0},
	} {
		if f.n < f.low {
			return problem.New(f.option, strconv.Itoa(f.n), fmt.Sprintf("want at least %d", f.low), "")
		}
		if f.n > math.MaxInt32 {
			return problem.New(f.option, strconv.Itoa(f.n), fmt.Sprintf("want at most %d", math.MaxInt32), "")
		}
	}
	if n := r.Data.Samples; n < 1 || n > math.MaxInt32 {
		return problem.New("data", "", problem.Plural(n, "sample")+": want at least 1", "")
	}
	if r.Batch < r.Replicas {
		return problem.New("batch", strconv.Itoa(r.Batch), fmt.Sprintf("smaller than {replicas} %d: some replicas "+
			"would never see a sample", r.Replicas), fmt.Sprintf("use {replicas} %d", r.Batch))
	}
	if (r.Epochs == 0) == (r.Steps == 0) {
		return problem.New("epochs", strconv.Itoa(r.Epochs), "give one of {epochs} and {steps}", "")
	}
	if r.StepsPerEpoch() == 0 {
		return problem.New("tail", string(r.Tail), fmt.Sprintf("it leaves nothing: the data has %s, "+
			"a batch %d", problem.Plural(r.Data.Samples, "sample"), r.StepBatch()),
			fmt.Sprintf("use {batch} %d or {tail} keep", r.Data.Samples))
	}
	return nil
}

func (r *Recipe) checkNames() error {
	_, tail := parallel.ParseTail(string(r.Tail))
	_, mode := bn.ParseMode(string(r.BN))
	_, rule := bn.ParseRule(string(r.BNStats))
	_, update := bn.ParseUpdate(string(r.BNUpdate))
	_, sync := weightsync.ParseSync(string(r.WeightSync))
	for _, f := range []struct {
		option string
		err    error
	}{{"tail", tail}, {"bn", mode}, {"bn-stats", rule}, {"bn-update", update}, {"weight-sync", sync}} {
		if f.err != nil {
			return problem.Wrap(f.option, f.err)
		}
	}
	for _, f := range []struct {
		option, v string
		options   []string
	}{
		{"optimizer", r.Optimizer, Optimizers()},
		{"precision", r.Precision, device.Precisions()},
		{"bn-min", r.BNMin, []string{"refuse", "running"}},
		{"save", r.Save, saves()},
	} {
		if !slices.Contains(f.options, f.v) {
			e := problem.New(f.option, strconv.Quote(f.v), "want one of "+strings.Join(f.options, ", "), "")
			e.Known = f.options
			return e
		}
	}
	if _, err := NewSchedule(r); err != nil {
		return problem.Wrap("schedule", err)
	}
	return r.checkDrops()
}

// checkDrops refuses a schedule with epochs that are not in increasing order.
func (r *Recipe) checkDrops() error {
	s, _ := NewSchedule(r)
	sorted := slices.Compact(slices.Sorted(slices.Values(s.drops)))
	if slices.Equal(sorted, s.drops) {
		return nil
	}
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(sorted), " ", ","), "[]")
	return problem.New("schedule", r.Schedule, "its epochs do not follow each other", "write step:"+text)
}

// checkTogether refuses options that contradict each other.
func (r *Recipe) checkTogether() error {
	if err := cmp.Or(r.checkStatistics(), r.checkFollowing()); err != nil {
		return err
	}
	_, stale := r.WeightSync.Span()
	switch {
	case r.QAT && r.Precision != device.F32:
		return problem.New("qat", "", "its forward pass is exact, and {precision} "+r.Precision+" rounds",
			"use {precision} f32")
	case r.QAT && r.Init == Drawn:
		return problem.New("qat", "", "it trains from weights that were trained in float32, and these are drawn",
			"add {init} FILE")
	case r.QAT && r.BNPrecise > 0:
		return problem.New("qat", "", fmt.Sprintf("it folds batch norms, and {bn-precise} %d would estimate their "+
			"statistics", r.BNPrecise), "drop one of them")
	case r.HasSeparateWeights() && r.BN == bn.Sync:
		return problem.New("weight-sync", string(r.WeightSync), "it leaves each replica alone, and {bn} sync "+
			"makes all meet in every layer", "add {bn} replica")
	case stale && r.BN == bn.Sync:
		return problem.New("weight-sync", string(r.WeightSync), "it lets replicas come late, and {bn} sync makes "+
			"all wait for each other in every layer", "add {bn} replica")
	case r.BN == bn.Frozen && r.Init == Drawn:
		return problem.New("bn", string(r.BN), "it normalises with running statistics, and a new model has none",
			"add {init} FILE")
	case r.BN == bn.Frozen && r.BNPrecise > 0:
		return problem.New("bn", string(r.BN), fmt.Sprintf("it keeps the statistics as they are, {bn-precise} %d "+
			"would replace them", r.BNPrecise), "drop one of them")
	case r.Validation.Samples == 0 && r.Save != "last":
		return problem.New("save", r.Save, "it needs validation data", "add {val}")
	case r.Validation.Samples == 0 && r.Patience > 0:
		return problem.New("patience", strconv.Itoa(r.Patience), "it needs validation data", "add {val}")
	case r.Validation.Samples == 0 && strings.HasPrefix(r.Schedule, "plateau"):
		return problem.New("schedule", r.Schedule, "it needs validation data", "add {val} or {val-split}")
	case r.Nesterov && r.Optimizer != "sgd":
		return problem.New("nesterov", "", "it has a meaning only with {optimizer} sgd", "")
	}
	return nil
}

// Rebuilds reports whether the model of a training for int8 is rebuilt after an epoch, counted from 1.
func (r *Recipe) Rebuilds(epoch int) bool {
	return epoch >= 1 && (epoch <= r.QATRanges || epoch == r.QATFold)
}

// checkFollowing refuses values of QATRanges and QATFold for epochs that the training does not reach.
func (r *Recipe) checkFollowing() error {
	for _, f := range []struct {
		option, what string
		epochs       int
	}{{"qat-ranges", "its ranges would never stay", r.QATRanges},
		{"qat-fold", "its batch norms would never become part of the layers", r.QATFold}} {
		switch {
		case f.epochs == 0:
		case !r.QAT:
			return problem.New(f.option, strconv.Itoa(f.epochs), "it has a meaning only with {qat}", "add {qat}")
		case f.epochs*r.StepsPerEpoch() >= r.TotalSteps():
			return problem.New(f.option, strconv.Itoa(f.epochs), "the run ends before the next epoch: "+f.what,
				"use fewer, or more {epochs}")
		case r.HasSeparateWeights() || r.HasLateGradients():
			return problem.New(f.option, strconv.Itoa(f.epochs), "it needs one model for all replicas, which "+
				"{weight-sync} "+string(r.WeightSync)+" has not", "use {weight-sync} allreduce or template")
		}
	}
	return nil
}

// checkStatistics refuses ways of keeping statistics that contradict each other.
func (r *Recipe) checkStatistics() error {
	_, async := r.BNUpdate.Span()
	switch {
	case r.BN != bn.Replica && r.BNStats != bn.Pooled:
		return problem.New("bn-stats", string(r.BNStats), "it has a meaning only with {bn} replica", "")
	case r.BN != bn.Replica && r.BNMin == "running":
		return problem.New("bn-min", r.BNMin, "it has a meaning only with {bn} replica", "")
	case r.BN != bn.Replica && r.BNUpdate != bn.EveryStep:
		return problem.New("bn-update", string(r.BNUpdate), fmt.Sprintf("it has a meaning only with {bn} replica: "+
			"with {bn} %s replicas have no separate statistics", r.BN), "add {bn} replica or drop it")
	case async && r.BNStats != bn.Pooled:
		return problem.New("bn-update", string(r.BNUpdate), fmt.Sprintf("it merges what it hears of exactly, "+
			"{bn-stats} %s contradicts that", r.BNStats), "drop one of them")
	case r.BNPrecisePlain && r.BNPrecise == 0 && !r.AveragesWeights():
		return problem.New("bn-precise-plain", "", "it has a meaning only where statistics are estimated anew",
			"add {bn-precise} N or drop it")
	case r.BNUpdate == bn.PostHoc && r.BNMin == "running":
		return problem.New("bn-update", string(r.BNUpdate), "it keeps statistics on each replica, and {bn-min} "+
			"running is for replicas that have none", "use {bn-update} step")
	}
	return nil
}
