package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// estimateReplicas is the number of replicas of a batch of an estimation.
const estimateReplicas = 8

// reestimate returns the statistics of m over the first samples of src, in a
// shuffled order, and how many these are.
func reestimate(ctx context.Context, c *cli.Context, m *models.Model, src data.Source) (
	map[string]tensor.Tensor, int, error) {
	wrapped, err := parallel.Wrap(m.Graph,
		parallel.Options{Replicas: estimateReplicas, BN: bn.Sync, Stats: bn.Pooled})
	if err != nil {
		return nil, 0, err
	}
	r := train.Reestimation{Batch: max(c.Int("batch"), estimateReplicas), Replicas: estimateReplicas,
		Samples: c.Int("samples"), Input: m.Graph.Main.Values[m.Graph.Main.Inputs[0]].Name}
	if r.Layers, err = bn.Layers(wrapped.Main); err != nil {
		return nil, 0, err
	}
	if len(r.Layers) == 0 {
		return nil, 0, fmt.Errorf("model %s has no batch norm to estimate", m.Architecture)
	}
	devices, err := openDevices(ctx, c, precisionFor(c, m), estimateReplicas)
	if err != nil {
		return nil, 0, err
	}
	defer devices.Close()
	d, err := train.OpenEstimator(ctx, m, wrapped, devices.Members, r.Batch, estimateReplicas)
	if err != nil {
		return nil, 0, err
	}
	defer d.Close()
	l, err := data.NewLoader(ctx, src, data.Plan{Batch: r.Batch, Epochs: 1, Shuffle: true,
		Workers: c.Int("workers"), Transform: modelfile.Transform(m, src.Info())})
	if err != nil {
		return nil, 0, err
	}
	defer l.Close()
	state, n, err := train.Reestimate(ctx, d, l, r)
	var bad *bn.NonFinite
	if errors.As(err, &bad) {
		err = fmt.Errorf("%w; statistics cannot mend weights: take an earlier checkpoint", err)
	}
	return state, n, err
}
