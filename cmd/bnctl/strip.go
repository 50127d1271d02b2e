package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/doctor"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

func stripCommand() *cli.Command {
	return &cli.Command{
		Name:      "strip",
		Usage:     "make one clean file of any training checkpoint; say what was removed",
		ArgsUsage: "CHECKPOINT... -o FILE",
		Description: `Takes away what training on many devices left behind: replica connections,
wrappers such as module., optimizer tensors, averages, other sets of statistics.
Of several state dicts the one that has a model's parameters is taken, and named;
--key takes another. Weights come out as they went in. The ending of -o picks the form: .bnm is a
template and needs the architecture (found in the zoo, or --arch); .pth and
.safetensors keep names, order and types, and need none. Several checkpoints are
those of the ranks of one run.

   bnctl strip run.bnc -o model.bnm
   bnctl strip checkpoint.pth -o clean.safetensors
   bnctl strip lightning.ckpt -o model.bnm --drop 'teacher.*'
   bnctl strip resnet20.th -o resnet20.bnm --preprocess imagenet
   bnctl strip rank0.pth rank1.pth -o model.pth --merge pooled`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"},
				Usage: "`FILE` to write: .bnm, .pth or .safetensors"},
			&cli.BoolFlag{Name: "ema",
				Usage: "take the average of the weights of a PyTorch checkpoint, not the weights"},
			&cli.StringFlag{Name: "merge", Usage: "statistics of several ranks or replicas: pooled, mean or first"},
			&cli.StringFlag{Name: "labels", Usage: "names of the classes: `A,B,C`, or a file with one on a line"},
		}, fileFlags(), preprocessFlags()),
		Action: stripAction,
	}
}

func stripAction(c *cli.Context) error {
	if c.NArg() == 0 {
		return misuse("strip needs CHECKPOINT: a training checkpoint, for example bnctl strip run.bnc -o model.bnm")
	}
	if err := wantEnding("strip", c.String("output"), ".bnm", ".pth", ".pt", ".safetensors"); err != nil {
		return err
	}
	if err := notInput(c.String("output"), c.Args().Slice()...); err != nil {
		return err
	}
	if !template(c) {
		err := without(c, "only a template keeps it", "arch", "input", "labels", "preprocess", "mean", "std",
			"exif", "interpolation")
		if err != nil {
			return err
		}
	}
	ours, err := modelfile.Own(c.Args().First())
	if err != nil {
		return err
	}
	var s *stripping
	if ours {
		s, err = stripOwn(c)
	} else {
		s, err = stripForeign(c)
	}
	if err != nil {
		return err
	}
	return s.report(outputOf(c))
}

// stripping is what was taken off, and what is left.
type stripping struct {
	event stripEvent
	lines []string        // what was removed, in words
	sick  doctor.Sickness // what is wrong with what is left
}

// stripOwn strips a checkpoint of bnctl.
func stripOwn(c *cli.Context) (*stripping, error) {
	if c.NArg() > 1 {
		return nil, misuse("%d checkpoints: several are for the ranks of a run of another program; "+
			"a .bnc holds a whole run", c.NArg())
	}
	o, err := stripOptions(c)
	if err != nil {
		return nil, err
	}
	m, removed, err := modelfile.Strip(c.Args().First(), o)
	if err != nil {
		return nil, err
	}
	s := &stripping{event: ownEvent(m, removed, c.String("merge")), lines: removedLines(removed)}
	return s, s.write(c, m, formats.Tensors(m))
}

// write writes the model, or without one its tensors, in the form that -o picks.
func (s *stripping) write(c *cli.Context, m *models.Model, tensors []formats.Tensor) (err error) {
	output := c.String("output")
	s.event.Inputs, s.event.Output = c.Args().Slice(), output
	if m != nil {
		s.sick = doctor.Of(m)
	} else if tensors, err = s.sick.Watch(tensors); err != nil {
		return err
	}
	if formats.TensorFile(output) {
		s.event.SHA256, err = formats.Save(output, tensors)
	} else {
		s.event.SHA256, err = serialize.WriteModel(output, m)
	}
	s.event.BN.Health, s.event.BN.Warnings = s.sick.Health()
	return err
}

// template reports whether -o asks for a template.
func template(c *cli.Context) bool {
	return strings.EqualFold(filepath.Ext(c.String("output")), ".bnm")
}
