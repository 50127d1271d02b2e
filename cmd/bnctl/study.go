package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/study/experiment"
	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/recipe"
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
   bnctl study bn --task segment --per-replica 2 --arms sync,replica -o study
   bnctl study bn ... -o study --measure speed`,
			Flags:  studyFlags(),
			Action: studyAction,
		}},
	}
}

// measureNothing is the value of --measure that only writes table, plots and page from existing results.
const measureNothing = "nothing"

// decided lists those flags of train that are not permitted here, because the study sets them itself, or
// because they would change the final weights and statistics of a run.
var decided = []string{"seed", "replicas", "bn", "bn-stats", "bn-update", "bn-min", "bn-precise",
	"bn-precise-plain", "ema",
	"save", "patience", "output", "checkpoint", "checkpoint-every", "resume", "recipe", "placement", "log-every",
	"log-dir", "overwrite", "device-timeout", "recompute", "tail", "weight-sync", "task",
	"stages", "plan"}

func studyFlags() []cli.Flag {
	flags := slices.DeleteFunc(trainFlags(),
		func(f cli.Flag) bool { return slices.Contains(decided, f.Names()[0]) })
	return append(flags,
		&cli.StringFlag{Name: "task", Usage: "segment: masks, or detect: boxes, by a recipe; flags change it"},
		&cli.StringFlag{Name: "arms", Value: "single,sync,replica",
			Usage: "ways of batch normalising: single, sync, replica, frozen"},
		&cli.IntFlag{Name: "frozen-after", Usage: "with frozen, train `EPOCHS` first, and then the others"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "study",
			Usage: "`DIR` to write to; its results are used again"},
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

func studyAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if err := applyTask(c); err != nil {
		return err
	}
	s := &studyRun{out: outputOf(c)}
	var err error
	if s.options, err = studyOptions(c); err != nil {
		return err
	}
	if slices.Equal(s.options.Measure, []string{measureNothing}) {
		return s.repeat()
	}
	if c.String("val") == "" {
		return misuse("study bn needs --val: what accuracy is measured on, for example --val glyphs")
	}
	if c.String("data") == "" {
		return misuse("train needs --data, for example --data glyphs")
	}
	if s.run, err = trainOptions(c, false); err != nil {
		return err
	}
	s.options.Fleet, s.run.Output = s.run.Fleet, "" // a folder
	s.run.Samples, s.run.ValidationSamples = c.Int("samples"), c.Int("val-samples")
	return s.runAll(c.Context, func(r *recipe.Recipe) error { return fromFlags(c, r, false) })
}

// applyTask sets the flags of the --task that are not set on the command line.
func applyTask(c *cli.Context) error {
	task := c.String("task")
	flags, ok := experiment.Tasks[task]
	if !ok && task != "" {
		return misuse("--task %q: want segment or detect", task)
	}
	for name, value := range flags {
		if c.IsSet(name) || name == "epochs" && c.IsSet("steps") {
			continue
		}
		if err := c.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// studyOptions returns those options that are only about the study, by the flags.
func studyOptions(c *cli.Context) (o experiment.Options, err error) {
	o = experiment.Options{Measure: strings.Split(c.String("measure"), ","), Async: c.Int("async"),
		Precise: c.Int("precise"), SamplingSamples: c.Int("sampling-samples"), SpeedSteps: c.Int("speed-steps"),
		Single: c.String("single"), Folder: c.String("output"), Command: commandLine(),
		Workers: c.Int("workers"), FrozenAfter: c.Int("frozen-after")}
	for arm := range strings.SplitSeq(c.String("arms"), ",") {
		o.Arms = append(o.Arms, experiment.Arm(arm))
	}
	seeds, err := different(c, "seeds", 0)
	if err != nil {
		return o, err
	}
	for _, seed := range seeds {
		o.Seeds = append(o.Seeds, uint64(seed))
	}
	if o.PerReplica, err = different(c, "per-replica", 1); err != nil {
		return o, err
	}
	if slices.Equal(o.Measure, []string{measureNothing}) {
		return o, nil
	}
	if err := atLeast(c, 0, "samples", "val-samples"); err != nil {
		return o, err
	}
	return o, o.CheckNumbers()
}

// different reads a flag with a list of whole numbers, which must be different and at least minimum.
func different(c *cli.Context, flag string, minimum int) ([]int, error) {
	seen := map[int]bool{}
	return list(c, flag, fmt.Sprintf("no number of at least %d, or there twice", minimum),
		func(text string) (int, bool) {
			n, err := strconv.Atoi(text)
			twice := seen[n]
			seen[n] = true
			return n, err == nil && n >= minimum && !twice
		})
}

// commandLine returns the command line as a user would type it.
func commandLine() string {
	words := []string{"bnctl"}
	for _, word := range os.Args[1:] {
		words = append(words, legible.ShellWord(word))
	}
	return strings.Join(words, " ")
}
