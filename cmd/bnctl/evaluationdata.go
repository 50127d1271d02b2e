package main

import (
	"context"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
)

// open opens the data that m is evaluated on.
func (e *evaluation) open(ctx context.Context, o *output, m *models.Model) (data.Source, error) {
	src, err := data.Open(ctx, e.source, data.Options{Split: data.Test, EXIF: m.Preprocess.EXIF,
		SkipBad: e.skip, Masks: e.masks, Array: fit.Arrays(m, o.note)})
	if err == nil {
		tellOfFiles(o, "--data", src.Info())
	}
	return src, err
}
