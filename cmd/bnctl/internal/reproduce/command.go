// Package reproduce trains a template again, by the recipe in its file, and compares the result with it.
package reproduce

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/attest"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/problem"
)

// Host has functions and flags that several commands share.
type Host struct {
	Flags  []cli.Flag // flags for the file of the initial weights, and for devices
	File   func(*cli.Context) (modelfile.Options, error)
	Fleet  func(*cli.Context) (fleet.Options, error)
	Output func(*cli.Context) Output
	Sick   func(advice, format string, args ...any) error // returns an error with exit code 3
}

// Output prints results and notes.
type Output struct {
	Result, Note func(format string, args ...any)
	Event        func(name string, v any)
	Wrote        func(files []string) // reports files that were written
}

// Command returns the command "reproduce".
func Command(h Host) *cli.Command {
	return &cli.Command{
		Name:      "reproduce",
		Usage:     "train a template again from its recipe, and compare",
		ArgsUsage: "MODEL",
		Description: `Reads the recipe in a template or checkpoint, checks that data, kernel class and
numbered parts are the ones of the recipe, trains on any devices, and compares. Exit
code 0: the result is equal. 2: an input differs, and nothing is trained. 3: the result
differs; the first epoch that differs is named if the chain of the training is there
(MODEL.chain.jsonl).

   bnctl reproduce model.bnm
   bnctl reproduce model.bnm --data folder:photos --devices 3xcpu
   bnctl reproduce model.bnm --dry-run
   bnctl reproduce model.bnm --init net.pth --rename 'backbone.(.*)=$1'
   bnctl reproduce model.bnm --epochs 40..42 --from epoch39.bnc --json`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "data", Usage: "`SRC` of the data", DefaultText: "as in the checkpoint of the run"},
			&cli.StringFlag{Name: "val", Usage: "`SRC` of the validation data", DefaultText: "likewise"},
			&cli.StringFlag{Name: "model", Usage: "name or `FILE` of the network, as in the training, if the " +
				"recipe is not enough", DefaultText: "as in the recipe"},
			&cli.StringFlag{Name: "init", Usage: "`FILE` with the initial weights, if they were not drawn"},
			&cli.IntFlag{Name: "classes", Usage: "as in the training, if the head was new",
				DefaultText: "of the data"},
			&cli.StringFlag{Name: "chain", Usage: "`FILE` of the chain", DefaultText: "MODEL.chain.jsonl"},
			&cli.StringFlag{Name: "epochs", Usage: "repeat epochs `A..B` only", DefaultText: "all"},
			&cli.StringFlag{Name: "from", Usage: "begin with a checkpoint `FILE` of the same training"},
			&cli.BoolFlag{Name: "dry-run", Usage: "check the inputs and estimate the time; train nothing"},
		}, append(attest.Flags(), h.Flags...)...),
		Action: func(c *cli.Context) error { return run(c, h) },
	}
}

func run(c *cli.Context, h Host) error {
	if c.NArg() != 1 {
		return commandline.Misuse("reproduce needs one MODEL: a template or a checkpoint of bnctl train")
	}
	o := options{model: c.Args().First(), data: c.String("data"), validation: c.String("val"),
		network: c.String("model"), classes: c.Int("classes"), init: c.String("init"),
		chain: c.String("chain"), checkpoint: c.String("from"),
		dryRun: c.Bool("dry-run"), out: h.Output(c)}
	var err error
	if o.file, err = h.File(c); err != nil {
		return err
	}
	if o.fleet, err = h.Fleet(c); err != nil {
		return err
	}
	if o.first, o.last, err = epochs(c.String("epochs"), o.checkpoint); err != nil {
		return err
	}
	if o.statement, err = attest.FromFlags(c, false); err != nil {
		return err
	}
	r, err := o.reproduce(c.Context)
	if err != nil {
		return err
	}
	o.out.Event("reproduce", r)
	if r.isEqual() || r.DryRun {
		o.out.Result("%s", r.text())
		return o.attest()
	}
	return h.Sick("check the devices of both trainings with bnctl devices verify", "%s", r.text())
}

// checkStatement returns an error if a statement is requested, but the second training does not end with the
// template in w.
func (o *options) checkStatement(w *original) error {
	switch {
	case o.statement == nil:
		return nil
	case o.dryRun || o.last > 0:
		return problem.New("attest", "", "a statement is about a whole training",
			"leave {dry-run} and {epochs} out")
	case w.sum == "":
		return problem.New("attest", "", o.model+" is a checkpoint, and a statement is about a template",
			"name the template")
	}
	return nil
}

// attest writes the signed statement about a reproduced template, if it was requested.
func (o *options) attest() error {
	if o.statement == nil {
		return nil
	}
	file, err := o.statement.Write(o.model, o.chain, attest.Reproduced)
	if err == nil {
		o.out.Wrote([]string{file})
	}
	return err
}
