package main

import (
	"context"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
)

// open opens the data to evaluate m on.
func (e *evaluationRun) open(ctx context.Context, o *output, m *models.Model) (data.Source, error) {
	src, err := predict.OpenData(ctx, m, e.source, e.data, o.note)
	if err == nil {
		o.notes("--data", src.Info().Notes())
	}
	return src, err
}

// compare evaluates another model on the same samples.
func (e *evaluationRun) compare(ctx context.Context, o *output, src data.Source, d *predict.Details) error {
	c, err := d.Against(ctx, e.other.Model, src, e.options, e.whole, e.workers)
	if err != nil {
		return err
	}
	o.event("against", c)
	o.result("%s", c.Line(e.otherPath))
	return nil
}
