package bnctl

import (
	"cmp"
	"context"
	"errors"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// Open reads the checkpoint to continue from, if o requests one, and opens the data.
// Nothing is trained yet, and the Recipe may be changed. The caller closes the run. The
// error for an invalid option is a *problem.Error or a *problem.Unknown.
func Open(ctx context.Context, o TrainOptions) (*Run, error) {
	r := &Run{o: o, watch: watch{observer: o.Observer}, unlock: func() {}}
	if err := r.open(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Run) open(ctx context.Context) error {
	if err := r.resume(ctx); err != nil {
		return err
	}
	if r.paths.Data == "" && r.o.Source == nil {
		return problem.New("data", "", "there is nothing to train on", "name some, for example glyphs")
	}
	if err := r.checkOutputs(); err != nil {
		return err
	}
	r.doing("opening the data")
	if err := r.openData(ctx); err != nil {
		return err
	}
	if err := r.o.checkTask(r.data.Info()); err != nil {
		return err
	}
	if err := r.checkUnseen(ctx); err != nil {
		return err
	}
	if err := r.subset(); err != nil {
		return err
	}
	if err := r.findCopies(ctx); err != nil {
		return err
	}
	return r.err()
}

// Prepare makes the model and completes the recipe. It reads all data, for the fingerprints. Train calls it.
// A caller may call it before, to inspect the prepared run, or to make sessions with package train.
func (r *Run) Prepare(ctx context.Context) (*Prepared, error) {
	if r.prepared != nil {
		return r.prepared, nil
	}
	r.doing("reading the data")
	m, err := r.prepare(ctx)
	if err = cmp.Or(err, r.err()); err != nil {
		return nil, err
	}
	r.prepared = &Prepared{Recipe: r.recipe, Model: m, Data: r.data, Validation: r.validation}
	return r.prepared, nil
}

// Train trains to the end, and returns the template, which it has also written to the output. It can be
// called once. The template and the checkpoint are locked while it runs. When ctx ends, Train finishes the
// current step, writes the checkpoint and returns the context's cause. If the template cannot be written,
// Train returns both the template and the error.
func (r *Run) Train(ctx context.Context) (*models.Model, error) {
	if r.begun {
		return nil, problem.New("", "", "this run has trained already", "open another")
	}
	r.begun = true
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	p, err := r.Prepare(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.checkRecipe(); err != nil {
		return nil, err
	}
	if err := r.lockOutputs(); err != nil {
		return nil, err
	}
	r.doing("opening the devices")
	if err := r.openDevices(ctx); err != nil {
		return nil, err
	}
	r.doing("loading the model on the devices")
	s, err := r.start(ctx, p.Model)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	r.notify(Begins{})
	if err := r.err(); err != nil {
		return nil, err
	}
	m, err := s.Run(ctx)
	if err != nil {
		return nil, r.stopped(ctx, err)
	}
	return m, r.write(ctx, s, m)
}

// checkRecipe returns an error if the recipe of a new run is invalid. It notifies the observer of fields
// without effect.
func (r *Run) checkRecipe() error {
	if r.from != nil {
		return nil
	}
	if err := r.recipe.Check(); err != nil {
		return err
	}
	for _, unused := range r.recipe.Ineffective() {
		r.notify(OptionUnused{unused})
	}
	return nil
}

// stopped adds advice to the error of a run that was interrupted: the command that continues the run.
func (r *Run) stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) && r.checkpoint != "" {
		return problem.Advise("continue with "+cmp.Or(r.resumeCommand(), "{resume} "+r.checkpoint), "%w", err)
	}
	return err
}
