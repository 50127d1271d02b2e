package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/tensor"
)

// predictFlags are the flags of commands that predict for the samples of a source.
func predictFlags() []cli.Flag {
	own := []cli.Flag{batchFlag("rows at once, over all devices; changes no result"), readersFlag(),
		precisionFlag()}
	return slices.Concat(own, fileFlags(), preprocessFlags(), runningFlags())
}

// runningFlags say on what a model is run.
func runningFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "kernels", Value: "auto", Usage: "kernel class: auto, amx, fma or generic"},
	}, deviceFlags()...)
}

func batchFlag(usage string) cli.Flag { return &cli.IntFlag{Name: "batch", Value: 128, Usage: usage} }

func readersFlag() cli.Flag {
	return &cli.IntFlag{Name: "workers", Usage: "goroutines that read", DefaultText: "one per core"}
}

// predictor is a model on the devices of the command line.
type predictor struct {
	*parallel.Driver
	model   *models.Model
	devices *deviceSet
	bad     []error // of inputs that cannot be read
}

// badInputs lists the inputs that could not be read, after the others.
func (p *predictor) badInputs(of int) error {
	if len(p.bad) == 0 {
		return nil
	}
	lines := make([]string, len(p.bad))
	for i, err := range p.bad {
		lines[i] = "\n   " + err.Error()
	}
	return fmt.Errorf("%d of %d inputs cannot be read:%s", len(p.bad), of, strings.Join(lines, ""))
}

// openPredictor opens a predictor at --batch and --precision, and says if the
// model was trained in another way.
func openPredictor(ctx context.Context, c *cli.Context, m *models.Model, samples int) (*predictor, error) {
	batch := c.Int("batch")
	if batch < 1 {
		return nil, misuse("--batch %d: want at least 1", batch)
	}
	p, err := newPredictor(ctx, c, m, batch, samples, precisionFor(c, m))
	if err == nil {
		warnOfTraining(outputOf(c), m, p.devices.kernels(), p.devices.Precision())
	}
	return p, err
}

// newPredictor loads what evaluation during training runs, and nothing else,
// on the devices, for batch rows at once, or for all samples if they are fewer.
func newPredictor(ctx context.Context, c *cli.Context, m *models.Model, batch, samples int,
	precision string) (*predictor, error) {
	predict, err := parallel.PredictFunction(m.Graph)
	if err != nil {
		return nil, err
	}
	program := &graph.Program{Name: m.Graph.Name, State: m.Graph.State, Functions: []*graph.Function{predict}}
	if err := program.Check(); err != nil {
		return nil, err
	}
	if err := checkBatch(predict, batch); err != nil {
		return nil, err
	}
	p := &predictor{model: m}
	if p.devices, err = openDevices(ctx, c, precision, noLimit); err != nil {
		return nil, err
	}
	n := len(p.devices.Members)
	p.Driver, err = parallel.Open(ctx, program, m.State, p.devices.Members,
		parallel.Config{Replicas: n, Batch: max(min(batch, samples), n)})
	if err != nil {
		return nil, errors.Join(err, p.devices.Close())
	}
	return p, nil
}

func (p *predictor) close() error { return errors.Join(p.Driver.Close(), p.devices.Close()) }

// loader reads src once, in order, as input of the model.
func (p *predictor) loader(ctx context.Context, c *cli.Context, src data.Source) (*data.Loader, error) {
	return data.NewLoader(ctx, src, data.Plan{Batch: p.Rows(), Epochs: 1, Workers: c.Int("workers"),
		GoOn:      c.Command.Name == "predict" && c.String("format") != "npy", // an array has a row for every input
		Transform: modelfile.Transform(p.model, src.Info())})
}

// classifies reports whether the first output of m is one score for each class.
func classifies(m *models.Model) bool {
	f := m.Graph.Main
	t := f.Values[f.Outputs[0].Value].Type
	return t.Kind == graph.Rows && t.DType == tensor.F32 && len(t.Shape) == 1
}

// labelOf returns what a person calls class i of m.
func labelOf(m *models.Model, i int) string {
	if i < len(m.Labels) {
		return m.Labels[i]
	}
	if len(m.Labels) > 0 {
		return fmt.Sprintf("output %d (no class)", i) // the head is larger than what it was trained on
	}
	return fmt.Sprint(i)
}
