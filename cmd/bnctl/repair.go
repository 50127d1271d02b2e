package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/doctor"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
)

// repair estimates the statistics of a file anew.
type repair struct {
	path, output string
	file         modelfile.Options
	options      doctor.RepairOptions
}

// repairEvent is the line of doctor --repair --json between that of the file
// and that of what was written.
type repairEvent struct {
	File    string         `json:"file"`
	Output  string         `json:"output"`
	SHA256  string         `json:"sha256"`
	Samples int            `json:"samples"`          // that the statistics were estimated over
	Before  *doctor.Served `json:"before,omitempty"` // on the test split, where there are labels
	After   *doctor.Served `json:"after,omitempty"`
}

func (r *repair) run(ctx context.Context, o *output) error {
	p, err := doctor.Examine(r.path, r.file)
	if err != nil {
		return err
	}
	noteChoice(o, p.Choice)
	_ = reportFindings(o, p) // that it is sick is why we are here
	if len(p.Bad) > 0 {
		return fmt.Errorf("%s: %s not finite; statistics cannot mend weights: take an earlier checkpoint",
			r.path, strings.Join(p.Bad, ", "))
	}
	m, err := doctor.Open(r.path, r.file)
	if err != nil {
		return err
	}
	r.options.Note = o.note
	mended, err := doctor.Repair(ctx, m, r.options)
	if err != nil {
		return err
	}
	if mended.Before != nil {
		warnOfTerms(o, mended.TrainedOn, mended.Terms)
	}
	e := repairEvent{File: r.path, Output: r.output, Samples: mended.Samples, Before: mended.Before,
		After: mended.After}
	if e.SHA256, err = formats.SaveModel(e.Output, mended.Model); err != nil {
		return err
	}
	o.event("repair", e)
	e.print(o)
	return reportFindings(o, doctor.ExamineModel(e.Output, mended.Model))
}

func (e *repairEvent) print(o *output) {
	o.result("estimated the statistics of %s anew over %s", e.File, counted(e.Samples, "sample"))
	if e.Before != nil {
		o.result("accuracy %.2f %%, before %.2f %%; loss %s, before %s (%s)", 100*e.After.Accuracy,
			100*e.Before.Accuracy, e.After.Loss, e.Before.Loss, counted(e.After.Samples, "sample"))
	}
	o.result("wrote %s  sha256 %s", e.Output, e.SHA256)
}
