package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation/estimation"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// estimateReplicas is the number of replicas that share a batch of an estimation.
const estimateReplicas = 8

// EstimateOptions define the number of samples for an estimate of statistics, and the
// devices.
type EstimateOptions struct {
	// Fleet names the devices, at most 8. An empty Precision is the precision of the
	// model's training.
	Fleet   fleet.Options
	Batch   int // samples of one batch for batch norm; at least 8 are used
	Samples int // largest number of samples
	Workers int // goroutines that read; 0: one for each core
}

// Reestimate returns the statistics of m over samples of src, by the names of state
// tensors, and the number of samples. It uses the first samples of a shuffled order. m must
// accept the samples of src as input: fit.Model returns such a model.
func Reestimate(ctx context.Context, m *models.Model, src data.Source, o EstimateOptions) (
	map[string]tensor.Tensor, int, error) {
	wrapped, err := spmd.Wrap(m.Graph,
		spmd.Options{Replicas: estimateReplicas, BN: bn.Sync, Stats: bn.Pooled})
	if err != nil {
		return nil, 0, err
	}
	r := estimation.Reestimation{Batch: max(o.Batch, estimateReplicas), Replicas: estimateReplicas,
		Samples: o.Samples, Input: m.Graph.Main.Values[m.Graph.Main.Inputs[0]].Name}
	if r.Layers, err = bn.Layers(wrapped.Main); err != nil {
		return nil, 0, err
	}
	if len(r.Layers) == 0 {
		return nil, 0, fmt.Errorf("model %s has no batch norm to estimate", m.Architecture)
	}
	if o.Fleet.Precision == "" {
		o.Fleet.Precision = predict.TrainedOn(m).Precision
	}
	o.Fleet.Most = estimateReplicas
	devices, err := fleet.Open(ctx, o.Fleet)
	if err != nil {
		return nil, 0, err
	}
	defer devices.Close()
	d, err := estimation.Open(ctx, m, wrapped, devices.Members, r.Batch, estimateReplicas)
	if err != nil {
		return nil, 0, err
	}
	defer d.Close()
	l, err := data.NewLoader(ctx, src, data.Plan{Batch: r.Batch, Epochs: 1, Shuffle: true,
		Workers: o.Workers, Transform: fit.Transform(m, src.Info())})
	if err != nil {
		return nil, 0, err
	}
	defer l.Close()
	state, n, err := estimation.Reestimate(ctx, d, l, r)
	var bad *bn.NonFinite
	if errors.As(err, &bad) {
		err = problem.Advise("statistics cannot mend weights: take an earlier checkpoint", "%w", err)
	}
	return state, n, err
}
