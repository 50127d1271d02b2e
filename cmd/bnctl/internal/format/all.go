package format

import (
	"context"
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// All predicts every sample of src and writes the predictions to w. If r.GoOn is set, it continues after
// samples that cannot be read or where no class is predicted, and returns their errors as failed.
func All(ctx context.Context, p *predict.Predictor, src data.Source, r predict.Reading, w Writer) (
	failed []error, err error) {
	var none classless
	failed, err = p.All(ctx, src, r, func(i int, outs []tensor.Tensor) error {
		if s, ok := w.(sampled); ok {
			if err := s.At(ctx, i); err != nil {
				return err
			}
		}
		return none.add(r, src.Name(i), w.Write(src.Name(i), outs))
	})
	if failed = append(failed, none...); err != nil {
		return failed, err
	}
	return failed, w.End()
}

// sampled is a Writer that reads the sample itself too.
type sampled interface {
	At(ctx context.Context, sample int) error
}

// classless collects the errors of inputs where no class is predicted.
type classless []error

// add stores err and returns nil, if err states that no class is predicted for an input and r.GoOn is set.
// Otherwise it returns err.
func (k *classless) add(r predict.Reading, input string, err error) error {
	var none *predict.NotFinite
	if !errors.As(err, &none) {
		return err
	}
	if err = fmt.Errorf("%s: %w", input, err); !r.GoOn {
		return err
	}
	*k = append(*k, err)
	return nil
}
