package main

import (
	"context"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
)

// openPredictor opens a predictor for the given number of samples. It writes a note if training evaluated the
// model with other kernels or at another precision.
func openPredictor(ctx context.Context, o *output, m *models.Model, options predict.Options, samples int) (
	*predict.Predictor, error) {
	options.Samples = samples
	options.Lost = func(device string, why error) {
		o.note("device %s is lost: %v; the others continue", device, why)
	}
	p, err := predict.Open(ctx, m, options)
	if err == nil {
		warnOfTerms(o, predict.TrainedOn(m), p.Terms())
	}
	return p, err
}

// warnOfTerms writes a note if training evaluated a model with other kernels, which may change the last bits
// of a result, or at another precision.
func warnOfTerms(o *output, was, is predict.Terms) {
	if was.Kernels != "" && was.Kernels != is.Kernels {
		o.note("the model was trained with kernel class %s, this is %s: outputs may differ in their last bits",
			was.Kernels, is.Kernels)
	}
	if was.Precision != "" && was.Precision != is.Precision {
		o.note("the model was trained at precision %s, this is %s: outputs differ", was.Precision, is.Precision)
	}
}

// featured returns m with the values of the given layers as its outputs. Without layers it returns m itself.
func featured(m *models.Model, layers []string) (*models.Model, error) {
	if layers == nil {
		return m, nil
	}
	return models.WithFeatures(m, layers)
}
