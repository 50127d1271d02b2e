package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
)

// predictFlags are the flags of commands that predict the samples of a source.
func predictFlags() []cli.Flag {
	flags := []cli.Flag{batchFlag("rows at once, over all devices; changes no result"), readersFlag(),
		precisionFlag(), labelsFlag(), stagesFlag(), planFlag(), fabricFlag()}
	return slices.Concat(flags, fileFlags(), preprocessFlags(), runningFlags(), joinFlags())
}

// runningFlags are the flags that select the devices that run a model.
func runningFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "kernels", Value: "auto", Usage: "kernel class: auto, amx, fma or generic"},
	}, deviceFlags()...)
}

// fitFlags are the flags that determine how pictures of any size become inputs.
func fitFlags(otherwise string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "fit", DefaultText: otherwise, Usage: "pictures of any size, whole: scale (as " +
			"training does), resize, pad or windows (of their full size); or crop: the middle"},
		&cli.Float64Flag{Name: "overlap", Value: 0.5, Usage: "share of a window that the next shows too"}}
}

func batchFlag(usage string) cli.Flag { return &cli.IntFlag{Name: "batch", Value: 128, Usage: usage} }

func readersFlag() cli.Flag {
	return &cli.IntFlag{Name: "workers", Usage: "goroutines that read", DefaultText: "one per core"}
}

// runOptions returns the options that the flags set for running a model.
func runOptions(c *cli.Context) (o predict.Options, err error) {
	o.Batch = c.Int("batch")
	if o.Stages, o.Divided, err = plannedStages(c); err != nil {
		return o, err
	}
	o.Fleet, err = fleetOptions(c, c.String("precision"), noLimit)
	return o, err
}

// stagesFlag is the flag that divides the layers of a network among devices.
func stagesFlag() cli.Flag {
	return &cli.StringFlag{Name: "stages", DefaultText: "1", Usage: "`N`, auto or LAYER,LAYER: divide the " +
		"network, and the devices among its parts; changes no result"}
}

// planFlag is the flag that requests the plan of stages: how layers are divided among devices.
func planFlag() cli.Flag {
	return &cli.BoolFlag{Name: "plan", Usage: "print the contents of each stage, " +
		"and its expected waiting time; in training, the bytes that a step exchanges with other machines too"}
}

// plannedStages is like stageOptions, for commands that have --plan.
func plannedStages(c *cli.Context) (stage.Spec, func(*stage.Plan), error) {
	s, divided, err := stageOptions(c)
	if err == nil && s.One() && c.Bool("plan") && !(c.Command.Name == "train" && namesMachines(c)) {
		err = problem.New("plan", "", "there is one stage, and a plan is of several", "give {stages} too")
	}
	return s, divided, err
}

// stageOptions returns the options that --stages and --plan set.
func stageOptions(c *cli.Context) (stage.Spec, func(*stage.Plan), error) {
	if c.IsSet("stages") && c.String("stages") == "" {
		return stage.Spec{}, nil, problem.New("stages", "''", "want a number, auto, or names of layers", "")
	}
	s, err := stage.Parse(c.String("stages"))
	if !c.Bool("plan") && len(s.Layers) == 0 {
		return s, nil, err // if the user names the layers, the activations between stages are printed
	}
	return s, func(p *stage.Plan) { notePlan(outputOf(c), p) }, err
}

func notePlan(o *output, p interface{ Lines() []string }) {
	for _, line := range p.Lines() {
		o.note("%s", line)
	}
}

// precisionFlag returns the flag precision, for commands that run a model without changing it.
func precisionFlag() cli.Flag {
	return &cli.StringFlag{Name: "precision",
		Usage: "f32, or bf16: less precise, and faster where the device has it (default: as in its training)"}
}

// askedFor returns the value of a switch, or nil if it is not set.
func askedFor(c *cli.Context, name string) *bool {
	if !c.IsSet(name) {
		return nil
	}
	v := c.Bool(name)
	return &v
}
