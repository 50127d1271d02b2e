package predict

import (
	"context"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/train"
)

// Evaluable returns the form of m that can be evaluated on such data:
// modelfile.Suited, for labels that are the model's. The error says which they are
// not, or is a *problem.Error of data without labels.
func Evaluable(m *models.Model, info data.Info) (*models.Model, error) {
	if !info.Labelled {
		return nil, problem.New("", "", info.Kind+" has no labels to evaluate on", "to predict needs none")
	}
	if err := sameLabels(m, info); err != nil {
		return nil, err
	}
	return modelfile.Suited(m, info)
}

// Evaluate predicts every sample of src once, and compares with the labels. The
// figures are those that training printed for the same model and data, bit for
// bit. The predictor's model is one that Evaluable returned for src.
func (p *Predictor) Evaluate(ctx context.Context, src data.Source, workers int) (*train.Evaluation, error) {
	return train.Evaluate(ctx, p, src, train.EvalOptions{Batch: p.Rows(), Workers: workers, OwnRows: p.OwnRows,
		Transform: train.Transform(p.Model, src.Info()), Probabilities: train.EndsInSoftmax(p.Model.Graph)})
}

// sameLabels refuses data whose classes are not those that m was trained on.
// Classes that have numbers for names need only be as many, or fewer.
func sameLabels(m *models.Model, info data.Info) error {
	if len(m.Labels) == 0 || numbered(info.Classes) && len(info.Classes) <= len(m.Labels) ||
		slices.Equal(m.Labels, info.Classes) {
		return nil
	}
	return problem.Advise("evaluate on data with the model's classes",
		"the classes differ: the model has %s, %s has %s", models.ClassList(m.Labels), info.Kind,
		models.ClassList(info.Classes))
}

// numbered reports whether the names of classes are 0, 1, 2 ...
func numbered(classes []string) bool {
	for i, name := range classes {
		if name != fmt.Sprint(i) {
			return false
		}
	}
	return true
}
