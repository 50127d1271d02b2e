package train

import (
	"context"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/evaluation/estimation"
	"github.com/bnctl/bnctl/tensor"
)

// estimate computes the statistics of every batch norm again for the weights in state, from
// the first samples of the training data in the order of epoch 0. They are augmented as in
// training, unless the recipe wants them plain: the weights were trained with augmented
// images (fvcore's update_bn_stats and PyTorch's update_bn also use the training batches).
// It leaves the model's part of state on the devices.
func (s *Session) estimate(ctx context.Context, state map[string]tensor.Tensor, samples int) (
	map[string]tensor.Tensor, error) {
	if err := s.trainer.driver.Write(ctx, s.ofModel(state)); err != nil {
		return nil, err
	}
	t, r := s.plan.transform, s.plan.recipe
	if r.BNPrecisePlain {
		t.Augment = augmentation.Augmentation{}
	}
	weights, err := r.SampleWeights(ctx, s.plan.config.Train)
	if err != nil {
		return nil, err
	}
	l, err := data.NewLoader(ctx, s.plan.config.Train, data.Plan{Batch: r.StepBatch(), Seed: r.Seed,
		Shuffle: true, Weights: weights, Transform: t, Workers: s.plan.config.Workers, Epochs: 1})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	statistics, _, err := estimation.Reestimate(ctx, s.trainer.driver, l, estimation.Reestimation{
		Layers: s.plan.layers, Input: s.plan.inputName(), Batch: r.StepBatch(),
		Replicas: r.StepReplicas(), Samples: samples})
	return statistics, err
}
