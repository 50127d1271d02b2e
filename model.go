package bnctl

import (
	"context"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

// prepare completes the recipe, except for the kernel class, and returns the model of a new run.
func (r *Run) prepare(ctx context.Context) (m *models.Model, err error) {
	if masks := r.masks(); r.o.Source == nil {
		r.recipe.MaskValues, r.recipe.MaskIgnore, r.recipe.Columns = masks.Values, masks.Ignore, r.columns()
	}
	if r.from != nil {
		err = r.compareOptions(ctx)
	} else {
		r.recipe.EMAWarmup = r.recipe.EMA > 0
		m, err = r.newModel(ctx)
	}
	if err != nil {
		return nil, err
	}
	r.recipe.ValSplit = r.valSplit
	if err := r.noteImbalance(ctx); err != nil {
		return nil, err
	}
	auto := r.recipe.ClassWeights == "auto"
	if err := r.recipe.SetData(ctx, r.data, r.validation); err != nil {
		return m, err
	}
	if auto {
		r.note("%s", r.recipe.AutoWeights(r.data.Info()))
	}
	if err := r.number(m); err != nil || r.from == nil {
		return m, err
	}
	if was := r.previous.Validation; was.Fingerprint == r.recipe.Validation.Fingerprint {
		r.recipe.Validation.Split = was.Split // an older release may have recorded val as test
	}
	return m, nil
}

// number writes the version number of each part of training into the recipe, unless the run continues a run
// that has none.
func (r *Run) number(m *models.Model) (err error) {
	if r.from != nil {
		if !r.previous.Numbered() {
			return nil
		}
		if m, err = serialize.Unwrap(r.from); err != nil {
			return err
		}
	}
	if r.recipe.SetNumbers(m, r.data, r.validation, r.imported); r.from != nil {
		r.recipe.KeepImports(r.previous)
	}
	return nil
}

// noteImbalance writes a note if most of the samples of a new run are of one class.
func (r *Run) noteImbalance(ctx context.Context) error {
	if r.from != nil || r.recipe.ClassWeights != "" || r.recipe.Sampling != "" || r.observer == nil {
		return nil
	}
	text, err := recipe.Imbalance(ctx, r.data)
	if text != "" {
		r.note("%s", text)
	}
	return err
}

// newModel makes the model of a new run.
func (r *Run) newModel(ctx context.Context) (*models.Model, error) {
	m, err := r.broadcastModel(ctx)
	if err != nil {
		return nil, err
	}
	if err := recipe.Fits(m.Model, r.data, r.validation); err != nil {
		return nil, err
	}
	if err := r.recipe.CheckDecay(m.Model); err != nil {
		return nil, err
	}
	r.notify(ModelMade{m})
	if r.recipe.SetModel(m.Model); m.Weights != "" {
		r.recipe.Init, r.imported = m.Weights, m.WeightsFormat()
	}
	if r.recipe.EXIF = r.exif(); r.decoder() == "" && r.o.Start.Preprocess.EXIF == "" {
		r.recipe.EXIF = "" // this run reads no picture files
	}
	return m.Model, nil
}
