package bnctl

import (
	"context"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
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
	if auto && r.o.Observer.Note != nil {
		r.o.Observer.Note("%s", r.recipe.AutoWeights(r.data.Info()))
	}
	if err := r.number(m); err != nil || r.from == nil {
		return m, err
	}
	if was := r.previous.Validation; was.Fingerprint == r.recipe.Validation.Fingerprint {
		r.recipe.Validation.Split = was.Split // the same samples: an older release may have called val test
	}
	return m, nil
}

// number writes the numbers of the parts into the recipe, unless the run continues one without numbers.
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

// noteImbalance notes a class that has most of the samples of a new run.
func (r *Run) noteImbalance(ctx context.Context) error {
	if r.from != nil || r.recipe.ClassWeights != "" || r.recipe.Sampling != "" || r.o.Observer.Note == nil {
		return nil
	}
	text, err := recipe.Imbalance(ctx, r.data)
	if text != "" {
		r.o.Observer.Note("%s", text)
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
	if r.o.Observer.Model != nil {
		r.o.Observer.Model(m)
	}
	if r.recipe.SetModel(m.Model); m.Weights != "" {
		r.recipe.Init, r.imported = m.Weights, m.WeightsFormat()
	}
	if r.recipe.EXIF = r.exif(); r.decoder() == "" && r.o.Start.Preprocess.EXIF == "" {
		r.recipe.EXIF = "" // it is about no file of this run
	}
	return m.Model, nil
}

// compare writes the model that the options name into the recipe of a resumed run, to be
// compared with the model of the checkpoint.
func (r *Run) compare(ctx context.Context) (err error) {
	if err := r.checkStart(); err != nil {
		return err
	}
	if path := r.o.Start.Init; path != "" {
		if r.recipe.Init, err = modelfile.Digest(path); err != nil {
			return err
		}
	}
	if r.o.Model != "" {
		m, err := r.startModel(ctx)
		if err != nil {
			return err
		}
		scaled := r.recipe.Interpolation
		r.recipe.SetModel(m.Model)
		r.recipe.Interpolation = scaled // a separate option
		if m.Weights != "" {
			r.recipe.Init = m.Weights
		}
	}
	if p := r.o.Start.Preprocess; p.Interpolation != "" {
		r.recipe.Interpolation = p.Interpolation
	}
	if p := r.o.Start.Preprocess; p.EXIF != "" {
		r.recipe.EXIF = p.EXIF
	}
	return nil
}

// checkStart refuses options about a new model for a run that continues with the model of
// its checkpoint.
func (r *Run) checkStart() error {
	if r.o.Model != "" {
		return nil
	}
	o := &r.o.Start
	for _, given := range []struct {
		option string
		set    bool
	}{
		{"classes", o.Classes != 0}, {"preprocess", o.Preprocess.Name != ""}, {"mean", o.Preprocess.Mean != nil},
		{"std", o.Preprocess.Std != nil}, {"arch", o.Arch != ""}, {"key", o.Key != ""}, {"drop", len(o.Drop) > 0},
		{"rename", len(o.Rename) > 0}, {"labels", o.Labels != nil},
	} {
		if given.set {
			return problem.New("", "", "{"+given.option+"} says how a new model is made",
				"leave it off to continue with that of the checkpoint")
		}
	}
	return r.sameSize()
}
