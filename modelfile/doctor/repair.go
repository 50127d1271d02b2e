package doctor

import (
	"context"
	"fmt"
	"maps"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/predict"
)

// openIncomplete opens the model of a file that may lack statistics. It is modelfile.Open,
// except that missing statistics are filled in where the architecture is known.
func openIncomplete(path string, o modelfile.Options) (*models.Model, error) {
	native, err := modelfile.IsNative(path)
	if err != nil {
		return nil, err
	}
	if native {
		m, err := modelfile.Open(path, o)
		if err != nil {
			return nil, err
		}
		return m.Model, nil
	}
	f, err := modelfile.OpenForeign(path, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	as, err := modelfile.Architecture(f, o)
	if err != nil {
		return nil, err
	}
	if f.Model == nil {
		if as == nil {
			as = zooModel(f)
		}
		formats.Complete(f, as)
	}
	m, err := modelfile.Template(f, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// RepairOptions define the data and devices for the repair of a model.
type RepairOptions struct {
	EstimateOptions
	// Data is the data that the model was trained on, in a form that data.Open accepts.
	// Statistics are estimated over its training split, and models evaluated on its test
	// split.
	Data string
	// Note is called with messages about the conversion of arrays, and about the mapping of
	// the data's classes to the model's, with options in braces; it may be nil.
	Note func(format string, args ...any)
	// Examined is called with the findings of RepairFile before the repair; it
	// may be nil.
	Examined func(*Report)
}

// Repaired is a model with new statistics, and its figures before and after.
type Repaired struct {
	Model   *models.Model `json:"-"`
	Samples int           `json:"samples"` // number of samples for the estimate
	// Before and After are evaluations of the old and of the new model on the same samples
	// of the test split, at most RepairOptions.Samples; nil without labels.
	Before *Evaluation `json:"before,omitempty"`
	After  *Evaluation `json:"after,omitempty"`
	// Terms are precision and kernel class of these evaluations, zero without labels.
	// TrainedOn are the terms of training.
	Terms     predict.Terms `json:"-"`
	TrainedOn predict.Terms `json:"-"`
}

// Evaluation has the figures of an evaluation.
type Evaluation struct {
	Samples  int     `json:"samples"` // labels that were counted
	Accuracy float64 `json:"accuracy"`
	Loss     string  `json:"loss"` // loss as text: it may not be finite
}

// Repair returns a copy of m with all running statistics estimated again.
func Repair(ctx context.Context, m *models.Model, o RepairOptions) (*Repaired, error) {
	src, err := predict.OpenData(ctx, m, o.Data, data.Options{Split: data.Train, CannotSkip: true}, o.Note)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	predict.NoteFiles(src, o.Note)
	fed, err := fit.Model(m, src.Info())
	if err != nil {
		return nil, err
	}
	state, n, err := Reestimate(ctx, fed, src, o.EstimateOptions)
	if err != nil {
		return nil, err
	}
	r := &Repaired{Model: m.Clone(), Samples: n, TrainedOn: predict.TrainedOn(m)}
	maps.Copy(r.Model.State, state)
	if r.Before, err = r.evaluate(ctx, m, o, o.Note); err == nil {
		r.After, err = r.evaluate(ctx, r.Model, o, nil)
	}
	return r, err
}

// evaluate evaluates m on the data's test split. If the split has more than o.Samples
// samples, it uses o.Samples of them, the same for every model. It returns nil without
// labels.
func (r *Repaired) evaluate(ctx context.Context, m *models.Model, o RepairOptions,
	note func(format string, args ...any)) (*Evaluation, error) {
	src, err := predict.OpenData(ctx, m, o.Data, data.Options{Split: data.Test, CannotSkip: true}, nil)
	// Repair has already noted conversions
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if !src.Info().Labelled || !predict.Classifies(m) {
		return nil, nil
	}
	if o.Samples < src.Info().Len {
		if src, err = data.Subset(src, o.Samples, 0); err != nil {
			return nil, err
		}
	}
	if m, src, err = predict.Evaluable(m, src, note); err != nil {
		return nil, err
	}
	p, err := predict.Open(ctx, m, predict.Options{Fleet: o.Fleet, Batch: o.Batch, Samples: src.Info().Len})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	r.Terms = p.Terms()
	e, err := p.Evaluate(ctx, src, o.Workers)
	if err != nil {
		return nil, err
	}
	return &Evaluation{Samples: e.Counted, Accuracy: e.Accuracy(), Loss: fmt.Sprintf("%.4f", e.Loss())}, nil
}
