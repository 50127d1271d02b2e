package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/doctor"
	"github.com/bnctl/bnctl/modelfile"
)

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "check batch norm statistics; repair them from data; exit 3 if they are sick",
		ArgsUsage: "FILE",
		Description: `Looks for what cannot be right (values that are not finite, negative variances,
statistics that were never updated, are missing or of another shape), and warns of what
may be as it should: a model with warnings alone, such as channels that fell silent,
is healthy, exit code 0. No architecture is needed; with --arch, or one of the zoo, it finds more.
--repair estimates all statistics anew over data, and says what that did: those that
are missing too, if the architecture is known. It takes the images as they are, without
the augmentation of training, so that a model that was trained with it gets slightly
other statistics than training with --bn-precise gives.

   bnctl doctor model.bnm
   bnctl doctor checkpoint.pth
   bnctl doctor sick.bnm --repair --data cifar10:cifar-10.tar.gz -o mended.bnm
   bnctl doctor sick.pth --repair --data folder:photos --preprocess imagenet -o mended.pth`,
		Flags: slices.Concat(fileFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "repair", Usage: "estimate the statistics anew, over --data, and write -o"},
		}, repairFlags()),
		Action: doctorAction,
	}
}

// repairFlags have a meaning only with --repair.
func repairFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.StringFlag{Name: "data", Usage: "`SRC` to estimate over: what the model was trained on"},
		&cli.IntFlag{Name: "samples", Value: 8192,
			Usage: "at most `N` samples of it, and of its test split to evaluate on"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"},
			Usage: "`FILE` to write: .bnm, .pth or .safetensors"},
		batchFlag("samples that batch norm sees at once while it is estimated"),
		readersFlag(), precisionFlag(),
	}, preprocessFlags(), runningFlags())
}

func doctorAction(c *cli.Context) error {
	path, err := oneArgument(c, "FILE", "a template, a checkpoint or the file of another program")
	if err != nil {
		return err
	}
	if c.Bool("repair") {
		return repairAction(c, path)
	}
	if err := onlyWith(c, "repair", repairFlags()); err != nil {
		return err
	}
	options, err := modelOptions(c)
	if err != nil {
		return err
	}
	p, err := doctor.Examine(path, options)
	if err != nil {
		return err
	}
	noteChoice(outputOf(c), p.Choice)
	return reportFindings(outputOf(c), p)
}

// doctorEvent is the line of doctor --json.
type doctorEvent struct {
	File     string       `json:"file"`
	Healthy  bool         `json:"healthy"`
	Layers   int          `json:"layers"`
	Findings []bn.Finding `json:"findings"`
	modelfile.Taken
}

// reportFindings tells what was found; faults are an error of exit code 3.
func reportFindings(o *output, p *doctor.Report) error {
	findings := p.Findings()
	faults := 0
	for _, f := range findings {
		if f.Severity == bn.Fault {
			faults++
		}
	}
	o.event("doctor", doctorEvent{p.Path, faults == 0, len(p.Norms), findings, p.Choice.Taken()})
	for _, f := range findings {
		o.result("%-7s  %s%s: %s\n         %s", f.Severity, f.Layer, channelList(f.Channels), f.Problem, f.Advice)
	}
	o.result("%s: %s, %s, %s", p.Path, counted(len(p.Norms), "batch norm"), counted(faults, "fault"),
		counted(len(findings)-faults, "warning"))
	if len(p.Norms) == 0 && faults == 0 {
		o.note("%s has no batch norm, or they are folded into the layers before them", p.Path)
	}
	switch {
	case faults == 0:
		return nil
	case len(p.Bad) > 0:
		return sickError{fmt.Errorf("%s is sick: %s; statistics cannot mend weights: "+
			"take an earlier checkpoint", p.Path, counted(faults, "fault"))}
	case len(p.Wrong) > 0:
		return sickError{fmt.Errorf("%s is sick: %s; statistics cannot mend its graph: %s", p.Path,
			counted(faults, "fault"), p.Wrong[0])}
	}
	return sickError{fmt.Errorf("%s is sick: %s in its batch norms; re-estimate them with "+
		"bnctl doctor %s --repair --data SRC -o mended.bnm", p.Path, counted(faults, "fault"), p.Path)}
}

// channelList names the first channels of a finding.
func channelList(channels []int) string {
	const shown = 6
	switch n := len(channels); {
	case n == 0:
		return ""
	case n == 1:
		return fmt.Sprintf(" channel %d", channels[0])
	case n > shown:
		return fmt.Sprintf(" %d channels (%s, ...)", n, joined(channels[:shown]))
	}
	return " channels " + joined(channels)
}

func joined(numbers []int) string {
	var s []string
	for _, n := range numbers {
		s = append(s, fmt.Sprint(n))
	}
	return strings.Join(s, ", ")
}
