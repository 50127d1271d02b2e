package bnctl

import (
	"context"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
)

// compare writes the model that the options name into the recipe of a resumed run. The recipe is then
// compared with the recipe of the checkpoint.
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
		r.recipe.Interpolation = scaled // Start.Preprocess.Interpolation sets this field, below
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

// checkStart returns an error if an option describes a new model, but the run continues with the model of its
// checkpoint.
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

// sameSize returns an error if the run continues with the model of its checkpoint, and the option Size
// differs from the size of that model's input.
func (r *Run) sameSize() error {
	want := r.o.Start.Size
	if want == (models.Size{}) {
		return nil
	}
	m, err := serialize.Unwrap(r.from)
	if err != nil {
		return err
	}
	is, ok := m.Size()
	if is.Height == want.Height && is.Width == want.Width {
		return nil
	}
	takes := "no pictures"
	if ok {
		takes = is.Sides()
	}
	return problem.New("size", want.Sides(), "the model of the checkpoint takes "+takes,
		"leave it off to continue with that")
}
