package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/doctor"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/train"
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
	options, err := modelOptions(c)
	if err != nil {
		return err
	}
	p, err := doctor.Examine(path, options)
	if err != nil {
		return err
	}
	o := outputOf(c)
	noteChoice(o, p.Choice)
	_ = reportFindings(o, p) // that it is sick is why we are here
	if len(p.Bad) > 0 {
		return fmt.Errorf("%s: %s not finite; statistics cannot mend weights: take an earlier checkpoint",
			path, strings.Join(p.Bad, ", "))
	}
	m, err := doctor.Open(path, options)
	if err != nil {
		return err
	}
	r, err := repaired(c, m)
	if err != nil {
		return err
	}
	e := repairEvent{File: path, Output: c.String("output"), Samples: r.Samples, Before: servedBy(r.Before),
		After: servedBy(r.After)}
	if e.SHA256, err = formats.SaveModel(e.Output, r.Model); err != nil {
		return err
	}
	o.event("repair", e)
	e.print(o)
	return reportFindings(o, doctor.ExamineModel(e.Output, r.Model))
}

// repaired repairs a model as the flags say, and says if it was trained in
// another way than it is evaluated.
func repaired(c *cli.Context, m *models.Model) (*doctor.Repaired, error) {
	o := outputOf(c)
	options := doctor.RepairOptions{Data: c.String("data"), Note: o.note}
	options.Batch, options.Samples, options.Workers = c.Int("batch"), c.Int("samples"), c.Int("workers")
	var err error
	if options.Fleet, err = fleetOptions(c, c.String("precision"), noLimit); err != nil {
		return nil, err
	}
	r, err := doctor.Repair(c.Context, m, options)
	if err == nil && r.Before != nil {
		warnOfTraining(o, m, r.Terms)
	}
	return r, err
}

// servedBy describes an evaluation; nil if there is none.
func servedBy(e *train.Evaluation) *served {
	if e == nil {
		return nil
	}
	return &served{Samples: e.Counted, Accuracy: e.Accuracy(), Loss: fmt.Sprintf("%.4f", e.Loss())}
}

func (e *repairEvent) print(o *output) {
	o.result("estimated the statistics of %s anew over %d samples", e.File, e.Samples)
	if e.Before != nil {
		o.result("accuracy %.2f %%, before %.2f %%; loss %s, before %s (%d samples)", 100*e.After.Accuracy,
			100*e.Before.Accuracy, e.After.Loss, e.Before.Loss, e.After.Samples)
	}
	o.result("wrote %s  sha256 %s", e.Output, e.SHA256)
}
