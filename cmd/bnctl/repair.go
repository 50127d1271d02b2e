package main

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/serialize"
)

// repairEvent is the line of doctor --repair --json between that of the file
// and that of what was written.
type repairEvent struct {
	File    string  `json:"file"`
	Output  string  `json:"output"`
	SHA256  string  `json:"sha256"`
	Samples int     `json:"samples"`          // that the statistics were estimated over
	Before  *served `json:"before,omitempty"` // on the test split, where there are labels
	After   *served `json:"after,omitempty"`
}

// served is what an evaluation came to.
type served struct {
	Samples  int     `json:"samples"`
	Accuracy float64 `json:"accuracy"`
	Loss     string  `json:"loss"` // as text: it may not be finite
}

// repairAction estimates the statistics of a file anew.
func repairAction(c *cli.Context, path string) error {
	if err := wantEnding("doctor --repair", c.String("output"), ".bnm", ".pth", ".pt",
		".safetensors"); err != nil {
		return err
	}
	if c.String("data") == "" {
		return misuse("doctor --repair needs --data: what the model was trained on")
	}
	if n := c.Int("samples"); n < 2 {
		return misuse("--samples %d: want at least 2", n)
	}
	if err := notInput(c.String("output"), path); err != nil {
		return err
	}
	if err := serialize.Writable(c.String("output")); err != nil {
		return err
	}
	p, err := openPatient(c, path)
	if err != nil {
		return err
	}
	_ = p.report(outputOf(c)) // that it is sick is why we are here
	if len(p.bad) > 0 {
		return fmt.Errorf("%s: %s not finite; statistics cannot mend weights: take an earlier checkpoint",
			path, strings.Join(p.bad, ", "))
	}
	m, err := openSick(c, path)
	if err != nil {
		return err
	}
	return repair(c, path, m)
}

// openSick opens the model of a file that may lack statistics.
func openSick(c *cli.Context, path string) (*models.Model, error) {
	ours, err := modelfile.Own(path)
	if ours || err != nil {
		return openModel(c, path)
	}
	o, err := modelOptions(c)
	if err != nil {
		return nil, err
	}
	f, err := modelfile.OpenForeign(path, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	as, err := modelfile.Architecture(f, o)
	if err != nil {
		return nil, err
	}
	if f.Model == nil {
		if as == nil {
			as = ofTheZoo(f)
		}
		formats.Complete(f, as)
	}
	m, err := modelfile.Template(f, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func repair(c *cli.Context, path string, m *models.Model) error {
	src, err := data.Open(c.String("data"), data.Options{Split: data.Train, EXIF: m.Preprocess.EXIF,
		Array: modelfile.Arrays(m, outputOf(c).note)})
	if err != nil {
		return err
	}
	defer src.Close()
	fed, err := modelfile.Suited(m, src.Info())
	if err != nil {
		return err
	}
	e := repairEvent{File: path, Output: c.String("output")}
	state, n, err := reestimate(c.Context, c, fed, src)
	if err != nil {
		return err
	}
	mended := m.Clone()
	maps.Copy(mended.State, state)
	e.Samples = n
	if e.Before, err = servedBy(c.Context, c, m); err != nil {
		return err
	}
	if e.After, err = servedBy(c.Context, c, mended); err != nil {
		return err
	}
	if e.SHA256, err = writeMended(e.Output, mended); err != nil {
		return err
	}
	o := outputOf(c)
	o.event("repair", e)
	e.print(o)
	after := &patient{path: e.Output}
	after.take(mended)
	return after.report(o)
}

func (e *repairEvent) print(o *output) {
	o.result("estimated the statistics of %s anew over %d samples", e.File, e.Samples)
	if e.Before != nil {
		o.result("accuracy %.2f %%, before %.2f %%; loss %s, before %s (%d samples)", 100*e.After.Accuracy,
			100*e.Before.Accuracy, e.After.Loss, e.Before.Loss, e.After.Samples)
	}
	o.result("wrote %s  sha256 %s", e.Output, e.SHA256)
}

// writeMended writes the model, or its tensors, in the form that the ending picks.
func writeMended(path string, m *models.Model) (string, error) {
	if formats.TensorFile(path) {
		return formats.Save(path, formats.Tensors(m))
	}
	return serialize.WriteModel(path, m)
}

// servedBy evaluates m on the data's test split, on --samples of it if it has
// more, the same for every model; nil if there are no labels.
func servedBy(ctx context.Context, c *cli.Context, m *models.Model) (*served, error) {
	src, err := data.Open(c.String("data"), data.Options{Split: data.Test, EXIF: m.Preprocess.EXIF,
		Array: modelfile.Arrays(m, nil)}) // repair has noted what is converted
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if !src.Info().Labelled || !predict.Classifies(m) {
		return nil, nil
	}
	if n := c.Int("samples"); n < src.Info().Len {
		if src, err = data.Subset(src, n, 0); err != nil {
			return nil, err
		}
	}
	if m, err = predict.Evaluable(m, src.Info()); err != nil {
		return nil, err
	}
	p, err := openPredictor(ctx, c, m, src.Info().Len)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	e, err := p.Evaluate(ctx, src, c.Int("workers"))
	if err != nil {
		return nil, err
	}
	return &served{Samples: e.Counted, Accuracy: e.Accuracy(), Loss: fmt.Sprintf("%.4f", e.Loss())}, nil
}
