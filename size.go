package bnctl

import (
	"context"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

// startModel makes the model that the options name. In a resumed run the default size of
// pictures is the size in the checkpoint, whatever rule chose it.
func (r *Run) startModel(ctx context.Context) (*modelfile.Started, error) {
	m, err := r.startFromOptions()
	if err != nil {
		return nil, err
	}
	o, drawn := r.o.Start, m.Weights == ""
	m.Model, err = recipe.Answering(ctx, m.Model, r.data, drawn || o.Init != "" || o.Classes != 0)
	if err != nil || !r.recipe.QAT {
		return m, err
	}
	m.Model, err = r.trainsInt8(ctx, m.Model, drawn)
	return m, err
}

func (r *Run) startFromOptions() (*modelfile.Started, error) {
	o := r.o.Start
	o.Seed, o.Auxiliary = r.recipe.Seed, r.recipe.AuxWeight > 0
	if r.from == nil || o.Size != (models.Size{}) || len(o.Input) > 0 {
		return modelfile.Start(r.o.Model, r.data.Info(), o)
	}
	was, err := serialize.Unwrap(r.from)
	if err != nil {
		return nil, err
	}
	o.Size, _ = was.Size()
	m, err := modelfile.Start(r.o.Model, r.data.Info(), o)
	if err != nil { // another model, as its default size will show
		o.Size = models.Size{}
		return modelfile.Start(r.o.Model, r.data.Info(), o)
	}
	return m, nil
}

// sameSize refuses another size for a run that continues with the model of its checkpoint.
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
