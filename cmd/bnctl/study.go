package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/study"
	"github.com/bnctl/bnctl/train"
)

func studyCommand() *cli.Command {
	return &cli.Command{
		Name:        "study",
		Usage:       "the same recipe under every way of batch normalising",
		Description: "   bnctl study bn --data glyphs --val glyphs -o study",
		Subcommands: []*cli.Command{{
			Name:  "bn",
			Usage: "does batch norm need synchronising, and which merge of statistics is right?",
			Description: `Trains one recipe on a single device, with sync batch norm and with replica
batch norm, for several seeds and for few and many samples per replica. A run
with replica batch norm carries every way of keeping running statistics side by
side. Writes results.json, table.md, plots and index.html into a folder; runs
that are there already are not made again.

   bnctl study bn --data glyphs:2000 --val glyphs:1000 --model mlp-bn --epochs 4 -o study
   bnctl study bn --model resnet20 --data cifar10:cifar-10.tar.gz --val cifar10:cifar-10.tar.gz \
       --samples 12000 --val-samples 2000 --per-replica 2,16 --seeds 1,2,3 --epochs 4 --devices 2xcpu -o study
   bnctl study bn ... -o study --measure speed`,
			Flags:  studyFlags(),
			Action: studyAction,
		}},
	}
}

// What --measure names.
const (
	measureTraining = "training"
	measureSampling = "sampling"
	measureSpeed    = "speed"
	measureNothing  = "nothing" // write table, plots and page of what is there
)

// decided is the flags of train that the study sets itself, or that would
// change which weights and statistics a run ends with.
var decided = []string{"seed", "replicas", "bn", "bn-stats", "bn-update", "bn-min", "bn-precise",
	"bn-precise-plain", "ema",
	"save", "patience", "output", "checkpoint", "checkpoint-every", "resume", "recipe", "placement", "log-every",
	"log-dir", "overwrite", "device-timeout", "tail", "weight-sync"}

func studyFlags() []cli.Flag {
	flags := slices.DeleteFunc(trainFlags(),
		func(f cli.Flag) bool { return slices.Contains(decided, f.Names()[0]) })
	return append(flags,
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "study",
			Usage: "`DIR` to write to; what it holds is used again"},
		&cli.StringFlag{Name: "seeds", Value: "1,2,3", Usage: "train with each of these"},
		&cli.StringFlag{Name: "per-replica", Value: "2,16",
			Usage: "samples that a replica sees of a batch: a few and many"},
		&cli.IntFlag{Name: "samples", Usage: "train on `N` samples, drawn from --data", DefaultText: "all"},
		&cli.IntFlag{Name: "val-samples", Usage: "evaluate on `N` samples, drawn from --val", DefaultText: "all"},
		&cli.IntFlag{Name: "async", Value: 4, Usage: "`STEPS` that asynchronous statistics are late at most"},
		&cli.IntFlag{Name: "precise", Value: 2048, Usage: "re-estimate precise statistics over `N` samples"},
		&cli.StringFlag{Name: "measure", Value: "training,sampling,speed",
			Usage: "what to do now (speed wants a machine without other work), or nothing: only write the page anew"},
		&cli.IntFlag{Name: "sampling-samples", Value: 512, Usage: "compare sampled variances over `N` samples"},
		&cli.IntFlag{Name: "speed-steps", Value: 20, Usage: "time `N` steps of each way of training"},
		&cli.StringFlag{Name: "single", Value: "cpu", Usage: "the single device"},
	)
}

// studyRun is one call of bnctl study bn.
type studyRun struct {
	trainer // base recipe, data, model
	results *study.Results
	folder  string
	measure []string
}

func studyAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	s := &studyRun{trainer: trainer{c: c, out: outputOf(c)}, folder: c.String("output"),
		results: &study.Results{}}
	defer s.close()
	if err := s.flags(); err != nil {
		return err
	}
	if slices.Equal(s.measure, []string{measureNothing}) {
		var err error
		if s.results, err = s.read(); err != nil {
			return err
		}
		return s.report()
	}
	if err := s.prepare(c.Context); err != nil {
		return err
	}
	if err := s.load(); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		run  func() error
	}{{measureTraining, s.trainAll}, {measureSampling, s.sampleAll}, {measureSpeed, s.timeAll}} {
		if !slices.Contains(s.measure, part.name) {
			continue
		}
		if err := part.run(); err != nil {
			return err
		}
	}
	return s.report()
}

// flags reads what is the study's own.
func (s *studyRun) flags() error {
	c, r := s.c, s.results
	seeds, err := positive(c, "seeds", 0)
	if err != nil {
		return err
	}
	for _, seed := range seeds {
		r.Seeds = append(r.Seeds, uint64(seed))
	}
	if r.PerReplica, err = positive(c, "per-replica", 1); err != nil {
		return err
	}
	slices.Sort(r.PerReplica)
	s.measure = strings.Split(c.String("measure"), ",")
	for _, m := range s.measure {
		if all := []string{measureTraining, measureSampling, measureSpeed, measureNothing}; !slices.Contains(all,
			m) {
			return misuse("--measure %q%s: want some of %s", m, nearest(m, all), strings.Join(all, ", "))
		}
	}
	for flag, least := range map[string]int{"precise": 2, "sampling-samples": 16, "speed-steps": 1, "async": 0,
		"samples": 0, "val-samples": 0} {
		if n := c.Int(flag); n < least {
			return misuse("--%s %d: want at least %d", flag, n, least)
		}
	}
	if c.String("val") == "" && !slices.Equal(s.measure, []string{measureNothing}) {
		return misuse("study bn needs --val: what accuracy is measured on, for example --val glyphs")
	}
	_, err = bn.ParseUpdate(s.async())
	if err != nil {
		return misuse("--async: %v", err)
	}
	return nil
}

// positive reads a list of different numbers, separated by commas.
func positive(c *cli.Context, flag string, least int) ([]int, error) {
	var out []int
	for _, text := range strings.Split(c.String(flag), ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || slices.Contains(out, n) {
			return nil, misuse("--%s %q: %q is no number of at least %d, or there twice", flag, c.String(flag), text,
				least)
		}
		out = append(out, n)
	}
	return out, nil
}

// async names the update of the asynchronous statistics.
func (s *studyRun) async() string { return fmt.Sprintf("async:%d", s.c.Int("async")) }

// recipeOf is the recipe of one run.
func (s *studyRun) recipeOf(at study.Setting, seed uint64) *train.Recipe {
	r := *s.recipe
	r.Seed, r.Replicas, r.BN, r.BNPrecise = seed, at.Replicas, bn.Sync, 0
	if at.Arm == study.Replica {
		r.BN, r.BNPrecise = bn.Replica, min(s.c.Int("precise"), r.Data.Samples)
	}
	return &r
}

// besides is the statistics that a run with replica batch norm carries.
func (s *studyRun) besides(at study.Setting) []train.Keeping {
	if at.Arm != study.Replica {
		return nil
	}
	return []train.Keeping{
		{Name: "pooled", Rule: bn.Pooled, Update: bn.EveryStep},
		{Name: "mean", Rule: bn.Mean, Update: bn.EveryStep},
		{Name: "first", Rule: bn.First, Update: bn.EveryStep},
		{Name: s.async(), Rule: bn.Pooled, Update: bn.Update(s.async())},
		{Name: "posthoc", Rule: bn.Pooled, Update: bn.PostHoc},
	}
}

// settle fills in what the study decides of the base recipe, and checks that
// the batch can be shared. Tails are left out: in every step a replica sees as
// many samples as it is about.
func (s *studyRun) settle() error {
	r := s.recipe
	r.Seed, r.Replicas, r.Save, r.Patience, r.Tail = 0, 1, "last", 0, parallel.Drop
	r.BN, r.BNStats, r.BNUpdate, r.BNMin, r.WeightSync = bn.Sync, bn.Pooled, bn.EveryStep, "refuse",
		parallel.AllReduce
	if r.Accumulate != 1 {
		return misuse("--accumulate is a larger --batch: give that to study bn")
	}
	for _, k := range s.results.PerReplica {
		if r.Batch%k != 0 {
			return misuse("--batch %d cannot be shared in parts of %d samples; choose --per-replica among its "+
				"divisors", r.Batch, k)
		}
	}
	return r.Check()
}
