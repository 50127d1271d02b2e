package main

import (
	"context"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/doctor"
)

// repair estimates the running statistics in a file again.
type repair struct {
	path, output string
	file         modelfile.Options
	options      doctor.RepairOptions
}

func (r *repair) run(ctx context.Context, o *output) error {
	r.options.Note = o.noteOptions
	r.options.Examined = func(p *doctor.Report) {
		noteChoice(o, p.Choice)
		_ = reportFindings(o, p) // the user already knows that the file has faults
	}
	e, err := doctor.RepairFile(ctx, r.path, r.output, r.file, r.options)
	if err != nil {
		return err
	}
	o.event("repair", e)
	o.result("estimated the statistics of %s anew over %s", e.File, plural(e.Samples, "sample"))
	if e.Before != nil {
		warnOfTerms(o, e.TrainedOn, e.Terms)
		o.result("accuracy %.2f %%, before %.2f %%; loss %s, before %s (%s)", 100*e.After.Accuracy,
			100*e.Before.Accuracy, e.After.Loss, e.Before.Loss, plural(e.After.Samples, "sample"))
	}
	o.result("wrote %s  sha256 %s", e.Output, e.SHA256)
	return reportFindings(o, doctor.ExamineModel(e.Output, e.Model))
}
