package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/modelfile/doctor"
	"github.com/bnctl/bnctl/modelfile/quantize"
)

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "check batch norm statistics; repair them from data; exit 3 if they are sick",
		ArgsUsage: "FILE",
		Description: `Looks for faults (values that are not finite, negative variances, statistics that
were never updated, are missing or of another shape), and warns of unusual values. A
model with warnings alone, for example of channels that fell silent, is healthy: exit
code 0. No architecture is needed; with --arch, or one of the zoo, it finds more.
--repair estimates all statistics again over data, missing ones too if the architecture
is known, and reports the effect. It uses the images without the augmentation of
training, so a model that was trained with augmentation gets slightly other statistics
than with --bn-precise.

--data without --repair runs samples through the layers of bytes of a quantised file,
and warns of channels that are constant or saturated.

   bnctl doctor model.bnm
   bnctl doctor quantised.onnx --data folder:photos --samples 512
   bnctl doctor checkpoint.pth
   bnctl doctor sick.bnm --repair --data cifar10:cifar-10.tar.gz -o mended.bnm
   bnctl doctor sick.pth --repair --data folder:photos --preprocess imagenet -o mended.pth`,
		Flags: slices.Concat(fileFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "repair", Usage: "estimate the statistics anew, over --data, and write -o"},
		}, repairFlags()),
		Action: doctorAction,
	}
}

// repairFlags are the flags of --repair. Without --repair, they can be used with --data, except the flag for
// the output.
func repairFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.StringFlag{Name: "data",
			Usage: "`SRC` to estimate or to examine over, the data of the model's training: " + sources},
		&cli.IntFlag{Name: "samples", Value: 8192,
			Usage: "at most `N` samples of it, and of its test split to evaluate on"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"},
			Usage: "`FILE` to write: .bnm, .pth or .safetensors"},
		batchFlag("samples that batch norm sees at once while it is estimated"),
		readersFlag(), precisionFlag(), labelsFlag(),
	}, preprocessFlags(), runningFlags())
}

func doctorAction(c *cli.Context) error {
	path, err := oneArgument(c, "FILE", "a template, a checkpoint or the file of another program")
	if err != nil {
		return err
	}
	if c.Bool("repair") {
		r, err := repairOptions(c, path)
		if err != nil {
			return err
		}
		return r.run(c.Context, outputOf(c))
	}
	if c.String("data") == "" {
		err = onlyWith(c, "repair", repairFlags())
	} else {
		err = refuse(c, "without --repair nothing is written", "output")
	}
	if err != nil {
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
	if c.String("data") != "" {
		list, err := examineMaps(c, path)
		if err != nil {
			return err
		}
		p.Add(list)
	}
	noteChoice(outputOf(c), p.Choice)
	return reportFindings(outputOf(c), p)
}

// examineMaps runs a model on samples, and returns warnings about its int8 feature maps.
func examineMaps(c *cli.Context, path string) ([]bn.Finding, error) {
	o, err := quantizeOptions(c, path)
	if err != nil {
		return nil, err
	}
	return quantize.FileFindings(c.Context, o)
}

// repairOptions returns the options of a repair that the flags set.
func repairOptions(c *cli.Context, path string) (*repair, error) {
	r := &repair{path: path, output: c.String("output")}
	if err := wantExtension("doctor --repair", r.output, ".bnm", ".pth", ".pt", ".safetensors"); err != nil {
		return nil, err
	}
	if r.options.Data = c.String("data"); r.options.Data == "" {
		return nil, misuse("doctor --repair needs --data: the data of the model's training")
	}
	if err := atLeast(c, 2, "samples"); err != nil {
		return nil, err
	}
	r.options.Batch, r.options.Samples, r.options.Workers = c.Int("batch"), c.Int("samples"), c.Int("workers")
	var err error
	if r.options.Fleet, err = fleetOptions(c, c.String("precision"), noLimit); err != nil {
		return nil, err
	}
	r.file, err = modelOptions(c)
	return r, err
}
