package bnctl

import (
	"context"

	"github.com/bnctl/bnctl/modelfile/quantize"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// The ranges of an int8 template are measured on rangeSamples samples of the training data, in batches of
// the recipe, of at most rangeBatch samples.
const (
	rangeSamples = 512
	rangeBatch   = 128
)

// trainsInt8 returns the model for quantisation-aware training that begins with m. drawn is set if weights
// of m are drawn from the seed.
func (r *Run) trainsInt8(ctx context.Context, m *models.Model, drawn bool) (*models.Model, error) {
	if drawn {
		return nil, problem.New("qat", "", "it needs weights that were trained in float32, and these are drawn",
			"add {init} FILE")
	}
	r.doing("measuring ranges")
	return quantize.Trainable(ctx, m, quantize.Options{Data: r.data, Samples: rangeSamples,
		Batch: min(r.recipe.Batch, rangeBatch), Workers: r.o.Workers, Fleet: r.o.Fleet, Note: r.o.Observer.Note})
}
