package format

import (
	"context"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// All predicts every sample of src and writes it to w. It returns the errors of
// samples that cannot be read as bad, if r says to go on after them.
func All(ctx context.Context, p *predict.Predictor, src data.Source, r predict.Reading, w Writer) (
	bad []error, err error) {
	bad, err = p.All(ctx, src, r, func(i int, outs []tensor.Tensor) error { return w.Write(src.Name(i), outs) })
	if err != nil {
		return bad, err
	}
	return bad, w.End()
}
