package predict

import (
	"context"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/problem"
)

// Evaluable returns the form of m that can be evaluated on src, from fit.Model, and src
// with the labels of m, as mapped by models.MatchClasses. note, which may be nil, is called
// with a description of the mapping. The error is from MatchClasses, or a *problem.Error
// for data without labels. Closing the source closes src.
func Evaluable(m *models.Model, src data.Source, note func(format string, args ...any)) (
	*models.Model, data.Source, error) {
	info := src.Info()
	if !info.Labelled {
		return nil, nil, problem.New("", "", info.Kind+" has no labels to evaluate on",
			"predict needs no labels")
	}
	if len(info.Classes) > 0 {
		k, err := m.MatchClasses(info.Kind, info.Classes)
		if err != nil {
			return nil, nil, err
		}
		if text := k.String(); text != "" && note != nil {
			note("%s", text)
		}
		src = data.Relabel(src, k.To, k.Names)
		named := *m
		named.Labels = k.Names
		m = &named
	}
	m, err := fit.Model(m, info)
	return m, src, err
}

// Evaluate predicts every sample of src once, and compares the predictions with the labels. Its figures
// equal the figures that training printed for the same model and data, bit for bit. The predictor's model
// and src are the results of Evaluable.
func (p *Predictor) Evaluate(ctx context.Context, src data.Source, workers int) (
	*evaluation.Evaluation, error) {
	return p.evaluate(ctx, src, workers, nil)
}

func (p *Predictor) evaluate(ctx context.Context, src data.Source, workers int, d *Details) (
	*evaluation.Evaluation, error) {
	l := evaluation.LossOf(p.Model.Recipe, src.Info())
	o := evaluation.Options{Loss: l, Form: p.Model.BoxForm(), Batch: p.Rows(), Workers: workers,
		OwnRows: p.driver.OwnRows, Transform: fit.Transform(p.Model, src.Info()),
		Probabilities: l.Probabilities(p.Model.Graph), Thresholds: p.Model.Thresholds}
	if d != nil {
		o.Observers = d.Observers()
	}
	return evaluation.Run(ctx, p, src, o)
}
