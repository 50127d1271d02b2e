package predict

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// Runner returns a function that opens devices for one batch, all rows of x [N,...], at float32, and returns
// the outputs of a model for these rows. formats.FoldProven uses it to compare two models.
func Runner(ctx context.Context, o fleet.Options) (
	run func(*models.Model, tensor.Tensor) ([]tensor.Tensor, error)) {
	o.Precision = device.F32
	return func(m *models.Model, x tensor.Tensor) ([]tensor.Tensor, error) {
		p, err := Open(ctx, m, Options{Fleet: o, Batch: x.Shape[0]})
		if err != nil {
			return nil, err
		}
		defer p.Close()
		return p.Predict(ctx, x)
	}
}
