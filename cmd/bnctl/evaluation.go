package main

import (
	"context"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/predict"
)

// shownMasks is the maximum number of masks on a page of mistakes.
const shownMasks = 100

// evaluationRun is one run of the command eval.
type evaluationRun struct {
	path      string // path of the model
	source    string // source of the data
	data      data.Options
	file      modelfile.Options
	options   predict.Options
	whole     predict.Whole
	workers   int
	csv       bool   // write the predictions as CSV
	mistakes  string // folder for a page that shows mistakes; may be ""
	tuned     tunedOptions
	otherPath string // path of another model to compare with; may be ""
	other     *modelfile.ReadOnly
}

func (e *evaluationRun) run(ctx context.Context, o *output) error {
	v, err := viewModel(o, e.path, e.file)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := v.OrDamage(e.evaluate(ctx, o, v)); err != nil {
		return err
	}
	warnOfModel(o, v.Model, e.path)
	return nil
}

// evaluate evaluates the model on every sample.
func (e *evaluationRun) evaluate(ctx context.Context, o *output, v *modelfile.ReadOnly) error {
	if predictsBoxes(v.Model) {
		return e.boxes(ctx, o, v)
	}
	src, err := e.open(ctx, o, v.Model)
	if err != nil {
		return err
	}
	defer src.Close()
	m, src, err := predict.Evaluable(v.Model, src, o.noteOptions)
	if err != nil {
		return err
	}
	if err := e.tuned.Check(m, src.Info()); err != nil {
		return err
	}
	if e.otherPath != "" { // if the other model does not fit, this is an error before anything is evaluated
		if e.other, err = e.openOther(o, src); err != nil {
			return err
		}
		defer e.other.Close()
	}
	p, err := openPredictor(ctx, o, m, e.options, e.whole.Rows(src.Info().Len))
	if err != nil {
		return err
	}
	defer p.Close()
	began, details := time.Now(), &predict.Details{Logs: e.tuned.Calibrates(), Wish: e.tuned.Wish}
	if e.csv || e.mistakes != "" {
		details.Masks = shownMasks
	}
	figures, err := p.EvaluateWhole(ctx, src, e.whole, e.workers, details)
	if err == nil {
		err = v.Verify()
	}
	if err != nil {
		return err
	}
	switch {
	case e.csv && p.Rank() == 0:
		err = details.WriteCSV(csvTo(o.stdout), m, src)
	case !e.csv:
		reportEvaluation(o, m, figures, details, time.Since(began))
	}
	if err == nil && e.otherPath != "" && p.Rank() == 0 {
		err = e.compare(ctx, o, src, details)
	}
	if err == nil && e.mistakes != "" && p.Rank() == 0 {
		err = details.WriteMistakes(ctx, e.mistakes, m, src)
	}
	if err == nil && p.Rank() == 0 {
		err = e.tuned.Write(tunedOutput(o), v.Model, details)
	}
	return err
}

// openOther opens the model to compare with, and checks it against the samples.
func (e *evaluationRun) openOther(o *output, src data.Source) (*modelfile.ReadOnly, error) {
	v, err := viewModel(o, e.otherPath, e.file)
	if err != nil {
		return nil, err
	}
	if _, _, err = predict.Evaluable(v.Model, src, nil); err != nil {
		v.Close()
		return nil, fmt.Errorf("--against %s: %w", e.otherPath, err)
	}
	return v, nil
}
