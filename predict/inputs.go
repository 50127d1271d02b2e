package predict

import (
	"context"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
)

// Inputs is the opened data to predict, and the model in the form that accepts it.
type Inputs struct {
	data.Source
	Model    *models.Model
	Unopened []error // errors of inputs that were left out
}

// OpenInputs opens pictures, folders, archives, .npy files, or data for data.Open, for m.
// With goOn, inputs that cannot be opened are left out; without it they are an error. note,
// which may be nil, is called with messages about the conversion of arrays. The caller
// closes the result.
func OpenInputs(ctx context.Context, m *models.Model, inputs []string, goOn bool,
	note func(format string, args ...any)) (*Inputs, error) {
	if m.Fields != nil {
		src, err := openFields(m, inputs, note)
		return &Inputs{Source: src, Model: m}, err
	}
	in := &Inputs{}
	o := data.Options{Split: data.Test, EXIF: m.Preprocess.EXIF, Array: fit.Arrays(m, note)}
	if goOn {
		o.Unopened = func(err error) { in.Unopened = append(in.Unopened, err) }
	}
	var err error
	if in.Source, err = data.OpenInputs(ctx, inputs, o); err != nil {
		return nil, err
	}
	if in.Model, err = fit.Model(m, in.Info()); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}
