package experiment

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/study"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// The elements of Options.Measure.
const (
	Training = "training" // training runs and their scores
	Sampling = "sampling" // bias of a variance over few samples
	Speed    = "speed"    // training speed; the machine should do no other work
)

// Measures returns the possible elements of Options.Measure, in the order in
// which they are measured.
func Measures() []string { return []string{Training, Sampling, Speed} }

// Arm is a study.Arm.
type Arm = study.Arm

// Options are the settings of a study. If a number of samples is larger than the data, all samples are used.
type Options struct {
	// Recipe is the recipe of all runs. Run does not change it. The study itself sets some fields, and ignores
	// their values in Recipe: seed, replicas, batch norm, tail, weight synchronisation, and which weights are
	// saved.
	Recipe *recipe.Recipe
	// Model is the model to train. It has weights, unless Recipe.Init is recipe.Drawn.
	Model            *models.Model
	Data, Validation data.Source
	Workers          int // number of goroutines that read; 0: one per core

	Fleet  fleet.Options // devices of runs with several replicas; the study sets Most and Precision
	Single string        // device of runs with one replica, in the form of Fleet.Devices

	Seeds           []uint64 // seeds of the runs: at least one, all different
	Arms            []Arm    // ways of training to compare; nil: study.DefaultArms
	PerReplica      []int    // numbers of samples per replica and batch, all different
	Measure         []string // what is measured: some of Measures
	Async           int      // largest delay of asynchronous statistics, in steps
	Precise         int      // number of samples for estimating statistics again ("precise"), at least 2
	SamplingSamples int      // number of samples for Sampling, at least 16
	SpeedSteps      int      // number of steps that are timed for each way, at least 1
	FrozenAfter     int      // epochs before study.Frozen freezes its statistics; 0: initial statistics

	Folder  string // folder for the results; earlier results of the same study are used
	Command string // command line of the study, stored with the results

	// Found is called with each new *study.Run, study.Sampling and study.Speed, Training with every event of a
	// run, and Note with messages for the user. Each may be nil.
	Found    func(any)
	Training func(train.Event)
	Note     func(format string, args ...any)
	Option   func(name string) string // train.Config.Option
}

// Check returns a *problem.Error for the first invalid option, or nil if all are valid.
func (o *Options) Check() error {
	if o.Recipe == nil || o.Model == nil {
		return problem.New("model", "", "a study needs a recipe and its model", "")
	}
	if o.Data == nil {
		return problem.New("data", "", "a study needs data to train on", "")
	}
	if o.Validation == nil {
		return problem.New("val", "", "a study needs data that accuracy is measured on", "")
	}
	if o.Folder == "" {
		return problem.New("output", "", "a study needs a folder to write to", "")
	}
	if err := o.CheckNumbers(); err != nil {
		return err
	}
	frozen := slices.Contains(o.Arms, study.Frozen)
	if n := o.FrozenAfter; frozen && (n < 0 || n > 0 && n >= o.Recipe.Epochs) {
		return problem.New("frozen-after", strconv.Itoa(n), "want at least 0 and fewer than {epochs}", "")
	}
	return o.checkPerReplica()
}

// CheckNumbers makes those checks of Check that are quick: it does not check models, data and the recipe.
func (o *Options) CheckNumbers() error {
	for _, n := range []struct {
		option   string
		n, least int
	}{{"precise", o.Precise, 2}, {"sampling-samples", o.SamplingSamples, 16}, {"speed-steps", o.SpeedSteps, 1},
		{"async", o.Async, 0}} {
		if n.n < n.least {
			return problem.New(n.option, strconv.Itoa(n.n), fmt.Sprintf("want at least %d", n.least), "")
		}
	}
	if _, err := bn.ParseUpdate(o.async()); err != nil {
		return problem.Wrap("async", err)
	}
	for _, m := range o.Measure {
		if !slices.Contains(Measures(), m) {
			return &problem.Error{Field: "measure", Value: strconv.Quote(m), Known: Measures(),
				Text: "want some of " + strings.Join(Measures(), ", ")}
		}
	}
	for _, arm := range o.Arms {
		if arms := append(study.DefaultArms(), study.Frozen); !slices.Contains(arms, arm) || !different(o.Arms) {
			return problem.New("arms", "", fmt.Sprintf("%v: want some of %v, no two alike", o.Arms, arms), "")
		}
	}
	if !different(o.Seeds) {
		return problem.New("seeds", "", fmt.Sprintf("%v: want at least one, and no two alike", o.Seeds), "")
	}
	if !different(o.PerReplica) || slices.Min(o.PerReplica) < 1 {
		return problem.New("per-replica", "", fmt.Sprintf("%v: want numbers of at least 1, and no two alike",
			o.PerReplica), "")
	}
	return nil
}

// checkPerReplica checks that the batch can be divided into shares of PerReplica.
func (o *Options) checkPerReplica() error {
	if o.Recipe.Accumulate != 1 {
		return problem.New("accumulate", "", "it is a larger {batch}: give that to a study", "")
	}
	for _, k := range o.PerReplica {
		if o.Recipe.Batch%k != 0 {
			return problem.New("batch", strconv.Itoa(o.Recipe.Batch),
				"it cannot be shared in parts of "+problem.Plural(k, "sample"),
				"choose {per-replica} among its divisors")
		}
	}
	return nil
}

func different[T comparable](list []T) bool {
	for i, v := range list {
		if slices.Contains(list[:i], v) {
			return false
		}
	}
	return len(list) > 0
}

// async returns the text that names the update of asynchronous statistics in a recipe.
func (o *Options) async() string { return fmt.Sprintf("async:%d", o.Async) }

// Run makes those measurements of o that the folder does not have yet, and returns all results. The error for
// an invalid option is a *problem.Error.
func Run(ctx context.Context, o Options) (*study.Results, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	s := &runner{o: o, recipe: withDefaults(o.Recipe), results: &study.Results{Seeds: slices.Clone(o.Seeds),
		Arms: slices.Clone(o.Arms), Masks: o.Data.Info().Masks, Boxes: o.Data.Info().Boxes,
		PerReplica: slices.Sorted(slices.Values(o.PerReplica))}}
	if err := s.recipe.Check(); err != nil {
		return nil, err
	}
	f, err := s.open(ctx, o.Fleet.Devices, s.recipe.Batch)
	if err != nil {
		return nil, err
	}
	s.recipe.Kernels, _ = parallel.KernelClass(f.Members)
	if err := f.Close(); err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	for _, option := range []struct {
		name string
		run  func(context.Context) error
	}{{Training, s.trainAll}, {Sampling, s.sampleAll}, {Speed, s.timeAll}} {
		if !slices.Contains(o.Measure, option.name) {
			continue
		}
		if err := option.run(ctx); err != nil {
			return nil, err
		}
	}
	return s.results, nil
}

// withDefaults returns a recipe with the settings of the study. It drops the incomplete batch at the end of
// an epoch (the tail), so that a replica sees the same number of samples in every step.
func withDefaults(base *recipe.Recipe) *recipe.Recipe {
	r := *base
	r.Seed, r.Replicas, r.Save, r.Patience, r.Tail = 0, 1, "last", 0, parallel.Drop
	r.BN, r.BNStats, r.BNUpdate, r.BNMin, r.WeightSync = bn.Sync, bn.Pooled, bn.EveryStep, "refuse",
		weightsync.AllReduce
	return &r
}

// runner is the state of one call of Run.
type runner struct {
	o       Options
	recipe  *recipe.Recipe // common to all runs
	results *study.Results
}

// open opens the named devices, for at most the given number of replicas.
func (s *runner) open(ctx context.Context, devices string, replicas int) (*fleet.Fleet, error) {
	o := s.o.Fleet
	o.Devices, o.Precision, o.Most = devices, s.recipe.Precision, replicas
	return fleet.Open(ctx, o)
}

// devicesOf returns the devices that a setting runs on.
func (s *runner) devicesOf(setting study.Setting) string {
	if setting.Arm == study.Single || setting.Arm == study.Frozen {
		return s.o.Single
	}
	return s.o.Fleet.Devices
}

// recipeOf returns the recipe of one run.
func (s *runner) recipeOf(setting study.Setting, seed uint64) *recipe.Recipe {
	r := *s.recipe
	r.Seed, r.Replicas, r.BN, r.BNPrecise = seed, setting.Replicas, bn.Sync, 0
	switch setting.Arm {
	case study.Frozen:
		r.BN = bn.Frozen
		if n := s.o.FrozenAfter; n > 0 {
			// The optimizer starts again. Without another warmup Adam would diverge in networks of many layers.
			r.Epochs, r.Init = r.Epochs-n, "after "+problem.Plural(n, "epoch")
			r.Warmup = min(r.Warmup, float64(r.Epochs))
		}
	case study.Replica:
		r.BN, r.BNPrecise = bn.Replica, min(s.o.Precise, r.Data.Samples)
	}
	return &r
}

// extraStatistics returns the additional sets of statistics that a run with replica batch norm keeps.
func (s *runner) extraStatistics(setting study.Setting) []train.StatisticsConfig {
	if setting.Arm != study.Replica {
		return nil
	}
	return []train.StatisticsConfig{
		{Name: "pooled", Rule: bn.Pooled, Update: bn.EveryStep},
		{Name: "mean", Rule: bn.Mean, Update: bn.EveryStep},
		{Name: "first", Rule: bn.First, Update: bn.EveryStep},
		{Name: s.o.async(), Rule: bn.Pooled, Update: bn.Update(s.o.async())},
		{Name: "posthoc", Rule: bn.Pooled, Update: bn.PostHoc},
	}
}

func (s *runner) found(v any) {
	if s.o.Found != nil {
		s.o.Found(v)
	}
}

func (s *runner) note(format string, args ...any) {
	if s.o.Note != nil {
		s.o.Note(format, args...)
	}
}
