package predict

import (
	"context"
	"errors"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/recipe"
)

// OpenData does the same as data.Open, for data that m is run on. Pictures and arrays are converted to its
// inputs as m specifies. A table has the columns of the training data unless o names others. If training
// reserved a part of its data, the suffixes @train and @val name the two parts. note, unless nil, is called
// with a description of conversions. Unless training data is requested, it is also called with a note if m
// has trained on these samples.
func OpenData(ctx context.Context, m *models.Model, spec string, o data.Options,
	note func(format string, args ...any)) (data.Source, error) {
	if err := m.CheckOneInput("a data source needs a model with one input"); err != nil {
		return nil, err
	}
	o.EXIF, o.Array = m.Preprocess.EXIF, fit.Arrays(m, note)
	r, err := recipe.Parse(m.Recipe)
	if err != nil { // a model of another program has no recipe
		return data.Open(ctx, spec, o)
	}
	if o.Columns != "" || r.Columns == "" || !strings.HasPrefix(spec, "csv:") {
		return openPart(ctx, r, spec, o, note)
	}
	named := o
	named.Columns = r.Columns
	src, err := openPart(ctx, r, spec, named, note)
	if err == nil {
		return src, nil
	}
	if src, other := openPart(ctx, r, spec, o, note); other == nil {
		return src, nil // the columns of src have their usual names
	}
	return nil, err
}

// NoteFiles calls note, unless it is nil, about the files that src leaves out, and the other
// notes of its Info.
func NoteFiles(src data.Source, note func(format string, args ...any)) {
	for _, n := range src.Info().Notes() {
		if note != nil {
			note("{data}: %s", n)
		}
	}
}

// openPart does the same as openPartOnce. If training left out some files and the other files are the
// data of the training, it leaves out the same files.
func openPart(ctx context.Context, r *recipe.Recipe, spec string, o data.Options,
	note func(format string, args ...any)) (data.Source, error) {
	src, err := openPartOnce(ctx, r, spec, o, note)
	var bad *data.BadFiles
	if r.Data.Skipped == 0 || o.SkipBad != 0 || !errors.As(err, &bad) {
		return src, err
	}
	o.SkipBad = r.Data.Skipped
	again, other := openPartOnce(ctx, r, spec, o, note)
	if other != nil {
		return nil, err
	}
	sum, other := again.Fingerprint(ctx)
	whole := r.ValSplit != nil && sum == r.ValSplit.Fingerprint
	if other == nil && (whole || sum == r.Data.Fingerprint) || data.IsHeldOut(again) {
		return again, nil
	}
	again.Close()
	return nil, err
}

// openPartOnce opens samples that r may have set apart.
func openPartOnce(ctx context.Context, r *recipe.Recipe, spec string, o data.Options,
	note func(format string, args ...any)) (data.Source, error) {
	if r.ValSplit == nil {
		return data.Open(ctx, spec, o)
	}
	src, err := data.OpenHeldOut(ctx, spec, o, r.ValSplit.Holdout(), r.ValSplit.Fingerprint)
	if err != nil || note == nil || o.Split == data.Train {
		return src, err
	}
	sum, err := src.Fingerprint(ctx)
	switch {
	case err != nil:
		src.Close()
		return nil, err
	case sum == r.ValSplit.Fingerprint:
		note("the model was trained on these samples, except for %g of them, which %s@val names",
			r.ValSplit.Fraction, spec)
	case sum == r.Data.Fingerprint:
		note("the model was trained on these samples")
	}
	return src, nil
}
