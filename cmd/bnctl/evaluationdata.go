package main

import (
	"context"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
)

// open opens the data that m is evaluated on.
func (e *evaluation) open(ctx context.Context, o *output, m *models.Model) (data.Source, error) {
	src, err := predict.OpenData(ctx, m, e.source, e.data, o.note)
	if err == nil {
		o.notes("--data", src.Info().Notes())
	}
	return src, err
}
