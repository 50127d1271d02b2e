package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/study/experiment"
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

// measureNothing writes table, plots and page of what is there.
const measureNothing = "nothing"

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
		&cli.StringFlag{Name: "measure", Value: strings.Join(experiment.Measures(), ","),
			Usage: "what to do now (speed wants a machine without other work), or nothing: only write the page anew"},
		&cli.IntFlag{Name: "sampling-samples", Value: 512, Usage: "compare sampled variances over `N` samples"},
		&cli.IntFlag{Name: "speed-steps", Value: 20, Usage: "time `N` steps of each way of training"},
		&cli.StringFlag{Name: "single", Value: "cpu", Usage: "the single device"},
	)
}

// studyRun is one call of bnctl study bn.
type studyRun struct {
	trainer // base recipe, data, model
	folder  string
	options experiment.Options
}

func studyAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	s := &studyRun{trainer: trainer{c: c, out: outputOf(c)}, folder: c.String("output")}
	defer s.close()
	if err := s.flags(); err != nil {
		return err
	}
	if slices.Equal(s.options.Measure, []string{measureNothing}) {
		r, err := experiment.Read(s.folder)
		if err != nil {
			return err
		}
		return s.report(r)
	}
	if err := s.prepare(c.Context); err != nil {
		return err
	}
	r, err := experiment.Run(c.Context, s.options)
	if err != nil {
		return err
	}
	return s.report(r)
}

// flags reads what is the study's own.
func (s *studyRun) flags() error {
	c, o := s.c, &s.options
	seeds, err := positive(c, "seeds", 0)
	if err != nil {
		return err
	}
	for _, seed := range seeds {
		o.Seeds = append(o.Seeds, uint64(seed))
	}
	if o.PerReplica, err = positive(c, "per-replica", 1); err != nil {
		return err
	}
	o.Measure = strings.Split(c.String("measure"), ",")
	for _, m := range o.Measure {
		if all := append(experiment.Measures(), measureNothing); !slices.Contains(all, m) {
			return misuse("--measure %q%s: want some of %s", m, nearest(m, all), strings.Join(all, ", "))
		}
	}
	for flag, least := range map[string]int{"precise": 2, "sampling-samples": 16, "speed-steps": 1, "async": 0,
		"samples": 0, "val-samples": 0} {
		if n := c.Int(flag); n < least {
			return misuse("--%s %d: want at least %d", flag, n, least)
		}
	}
	if c.String("val") == "" && !slices.Equal(o.Measure, []string{measureNothing}) {
		return misuse("study bn needs --val: what accuracy is measured on, for example --val glyphs")
	}
	if _, err = bn.ParseUpdate(fmt.Sprintf("async:%d", c.Int("async"))); err != nil {
		return misuse("--async: %v", err)
	}
	o.Async, o.Precise, o.SamplingSamples = c.Int("async"), c.Int("precise"), c.Int("sampling-samples")
	o.SpeedSteps, o.Single, o.Folder = c.Int("speed-steps"), c.String("single"), s.folder
	o.Command, o.Workers = commandLine(os.Args), c.Int("workers")
	o.Found, o.Training, o.Note = s.found, s.see, s.out.note
	return nil
}

// prepare opens the data and settles what all runs have alike.
func (s *studyRun) prepare(ctx context.Context) (err error) {
	if err := s.openData(); err != nil {
		return err
	}
	if s.data, err = data.Subset(s.data, s.c.Int("samples"), 0); err != nil {
		return misuse("--samples: %v", err)
	}
	if s.val, err = data.Subset(s.val, s.c.Int("val-samples"), 0); err != nil {
		return misuse("--val-samples: %v", err)
	}
	if err := s.trainer.prepare(ctx); err != nil {
		return err
	}
	o := &s.options
	o.Data, o.Validation, o.Recipe, o.Model = s.data, s.val, s.recipe, s.model
	o.Fleet, err = fleetOptions(s.c, s.recipe.Precision, noLimit)
	return err
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
