package main

import (
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/bench"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
)

func benchCommand() *cli.Command {
	return &cli.Command{
		Name:      "bench",
		Usage:     "how fast a model predicts or trains here, on input made up in memory",
		ArgsUsage: "MODEL",
		Description: `Runs batch after batch of the same synthetic input: no data is read. MODEL is a
name of the zoo or a file.

   bnctl bench resnet20 --batch 32
   bnctl bench resnet20 --mode train --batch 128 --devices 2xcpu
   bnctl bench unet-bn --batch 4 --input 3,256,256
   bnctl bench mobilenetv2 --batch 8 --profile
   bnctl bench resnet50 --batch 8 --precision bf16
   bnctl bench resnet18 --mode train --batch 16 --replicas 2 --scaling 1,2 --threads 1`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "mode", Value: "infer",
				Usage: "infer, or train: whole steps with sync batch norm and SGD"},
			&cli.IntFlag{Name: "replicas", Usage: "of a training batch", DefaultText: "the number of devices"},
			&cli.StringFlag{Name: "scaling",
				Usage: "`1,2,4`: one row for each number of devices, instead of --devices"},
			&cli.Float64Flag{Name: "seconds", Value: 5, Usage: "for each row"},
			&cli.BoolFlag{Name: "profile", Usage: "time of each node of the program and its floors; on one device"},
			&cli.BoolFlag{Name: "plan", Usage: "with --profile: how the CPU device cuts its work for this machine; " +
				"with --stages: the contents of each"},
			batchFlag("rows of a batch, over all devices"),
			precisionFlag(), stagesFlag(),
		}, fileFlags(), preprocessFlags(), runningFlags()),
		Action: benchAction,
	}
}

func benchAction(c *cli.Context) error {
	name, err := oneArgument(c, "MODEL", "a name of the zoo, or a file")
	if err != nil {
		return err
	}
	options, err := benchOptions(c)
	if err != nil {
		return err
	}
	file, err := benchFile(c, name)
	if err != nil {
		return err
	}
	o := outputOf(c)
	if options.Scaling != nil && !c.IsSet("threads") {
		o.note("the devices of a row share the cores; with --threads 1 all of them have one thread")
	}
	return measure(c.Context, o, name, file, options)
}

// benchOptions returns the options that the flags set. The default precision is the one of the model.
func benchOptions(c *cli.Context) (bench.Options, error) {
	b := bench.Options{Mode: c.String("mode"), Batch: c.Int("batch"), Seconds: c.Float64("seconds"),
		Replicas: c.Int("replicas"), Profile: c.Bool("profile"), Plan: c.Bool("plan")}
	var err error
	if b.Fleet, err = fleetOptions(c, c.String("precision"), noLimit); err != nil {
		return b, err
	}
	if b.Stages, b.Divided, err = stageOptions(c); err != nil {
		return b, err
	}
	if c.IsSet("scaling") {
		if !c.IsSet("devices") {
			b.Fleet.Devices = ""
		}
		b.Scaling, err = list(c, "scaling", "no number of devices", func(text string) (int, bool) {
			n, err := strconv.Atoi(text)
			return n, err == nil && n >= 1
		})
		if err != nil {
			return b, err
		}
	}
	return b, b.Check()
}

// benchFile returns the options that the flags set for reading the file of a model. For a model of the zoo
// they only set the size of its input.
func benchFile(c *cli.Context, name string) (modelfile.Options, error) {
	if _, err := models.Lookup(name); err == nil {
		err := refuse(c, name+" is a name of the zoo", "arch", "key", "drop", "rename", "preprocess", "mean",
			"std")
		if err != nil {
			return modelfile.Options{}, err
		}
	}
	return modelOptions(c)
}
