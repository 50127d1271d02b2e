package quantize

import (
	"context"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// Trainable returns a model for quantisation-aware training: the graph of the int8 template that File
// makes of m with the samples of o, with weights and biases in float32. A node quantize_weight makes
// the bytes of each layer, so that every forward pass equals the forward pass of the template. qat.Template
// turns the trained model into the template. Ranges are measured on m before the first step, and stay.
func Trainable(ctx context.Context, m *models.Model, o Options) (*models.Model, error) {
	if m.TrainsInt8() {
		return m, nil
	}
	p, err := prepare(m, o.Keep)
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
	fixed, _, err := p.bySamples(ctx, s, o.Method)
	if err != nil {
		return nil, err
	}
	b := &builder{model: p.Model, knowledge: fixed.known, stays: fixed.stays, users: p.Graph.Main.Users(),
		trains: true}
	trained, err := b.build()
	if err != nil {
		return nil, err
	}
	return trained.Model, nil
}
