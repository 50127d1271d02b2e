package predict

import (
	"context"
	"errors"
	"io"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/tensor"
)

// Reading determines how a source is read.
type Reading struct {
	Workers int // goroutines that read; 0: one for each core
	// GoOn leaves out samples that cannot be read, and All returns their errors. Without it the first sample
	// that cannot be read ends the reading.
	GoOn bool
	// Verify is called before any prediction is delivered: an error ends the reading. It may be
	// nil. It is for a model that is verified while it is used.
	Verify func() error
}

// All predicts every sample of src, in order. It calls each with the sample's number and the outputs of the
// model for the sample, in the form of models.Model.Outputs, without the axis of rows. each must not keep
// the outputs. If each returns an error, the reading ends. All returns the errors of samples that were left
// out. With several ranks every rank reads and predicts its share of every batch, and the function each
// is called only on rank 0, for all samples.
func (p *Predictor) All(ctx context.Context, src data.Source, r Reading,
	each func(sample int, outputs []tensor.Tensor) error) (bad []error, err error) {
	err = p.every(ctx, src, fit.Transform(p.Model, src.Info()), r,
		func(sample int, outputs []tensor.Tensor, wrong error) error {
			if wrong != nil {
				bad = append(bad, wrong)
			}
			if wrong != nil || p.Rank() > 0 {
				return nil
			}
			return each(sample, outputs)
		})
	return bad, err
}

// every does the same as All, with two differences: it calls each for samples that cannot be read, without
// outputs, and it calls each on every rank.
func (p *Predictor) every(ctx context.Context, src data.Source, t data.Transform, r Reading,
	each func(sample int, outputs []tensor.Tensor, wrong error) error) error {
	l, err := data.NewLoader(ctx, src, data.Plan{Batch: p.Rows(), Epochs: 1, Workers: r.Workers,
		SkipErrors: r.GoOn,
		Transform:  t, Select: p.wanted()})
	if err != nil {
		return err
	}
	defer l.Close()
	if r.Verify == nil {
		r.Verify = func() error { return nil }
	}
	for {
		b, err := l.Next()
		if errors.Is(err, io.EOF) {
			return r.Verify()
		}
		if err != nil {
			return err
		}
		outs, err := p.Predict(ctx, b.X)
		var rows [][]tensor.Tensor
		if err == nil {
			rows, err = p.Model.FileRows(outs)
		}
		if err == nil {
			err = r.Verify()
		}
		if err != nil {
			return err
		}
		wrong, err := p.badRows(ctx, b)
		if err != nil {
			return err
		}
		for i, sample := range b.Samples.I64() {
			if err := each(int(sample), rows[i], wrong[i]); err != nil {
				return err
			}
		}
		b.Release()
	}
}
