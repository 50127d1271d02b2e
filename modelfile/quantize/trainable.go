package quantize

import (
	"context"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// Trainable returns a model for quantisation-aware training: the graph of the int8 template that File
// makes of m with the samples of o, with weights and biases in float32. A node quantize_weight makes
// the bytes of each layer, so that every forward pass equals the forward pass of the template. qat.Template
// turns the trained model into the template. Ranges are measured on m before the first step, and batch
// norms are folded; with o.Follow both are done again, or later, by Rebuild.
func Trainable(ctx context.Context, m *models.Model, o Options) (*models.Model, error) {
	if m.TrainsInt8() {
		return m, nil
	}
	p, err := prepareToTrain(m, o)
	if err != nil {
		return nil, err
	}
	s, err := readSamples(ctx, m, o)
	if err != nil {
		return nil, err
	}
	if s.count == 0 {
		return nil, problem.Failure("data", "it has no sample to measure ranges on", "")
	}
	fixed, method, err := p.bySamples(ctx, s, o.Method)
	if err != nil {
		return nil, err
	}
	if o.Follow == (Follow{}) {
		b := &builder{model: p.Model, knowledge: fixed.known, stays: fixed.stays, trains: true}
		trained, err := b.build()
		if err != nil {
			return nil, err
		}
		return trained.Model, nil
	}
	return p.follow(&following{Stays: fixed.stays, Method: method}, fixed.known)
}

// prepareToTrain prepares m for a training: with batch norms, if they are folded later, and with a
// bias for each convolution and dense layer, if ranges are measured again.
func prepareToTrain(m *models.Model, o Options) (*prepared, error) {
	if o.Follow == (Follow{}) {
		return prepare(m, o.Keep)
	}
	eval, float, err := evaluated(m, o.Keep)
	if err != nil {
		return nil, err
	}
	if o.Follow.Fold == 0 {
		if eval, _, err = formats.Fold(eval); err != nil {
			return nil, err
		}
	} else if !eval.Normalises() {
		return nil, problem.New("qat-fold", "", "the model has no batch norms to fold", "leave it out")
	}
	float.coverReaders(eval.Graph.Main)
	eval, err = withBiases(eval)
	return &prepared{Model: eval, stays: float}, err
}
