package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// benchInfer measures predictions.
func benchInfer(ctx context.Context, c *cli.Context, m *models.Model) (benchEvent, error) {
	p, err := openPredictor(ctx, c, m, c.Int("batch"))
	if err != nil {
		return benchEvent{}, err
	}
	defer p.close()
	e := benchEvent{Mode: "infer", Batch: c.Int("batch")}
	x, err := randomInputs(m, e.Batch)
	if err != nil {
		return e, err
	}
	err = measure(c, &e, p.devices, func() error {
		_, err := p.Predict(ctx, x)
		return err
	})
	return e, err
}

// benchTrain measures whole steps: forward, backward, exchange and update.
func benchTrain(ctx context.Context, c *cli.Context, m *models.Model) (e benchEvent, err error) {
	e = benchEvent{Mode: "train", Batch: c.Int("batch")}
	devices, err := openDevices(ctx, c, precisionFor(c, m), c.Int("replicas"))
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, devices.Close()) }()
	r := &train.Recipe{Model: m.Architecture, Batch: e.Batch, Replicas: c.Int("replicas"), Accumulate: 1,
		Steps: 1, Data: train.Data{Samples: e.Batch}, Optimizer: "sgd", LR: 1e-3, Momentum: 0.9, WeightDecay: 1e-4,
		Schedule: "constant", BN: bn.Sync, BNStats: bn.Pooled}
	if r.Replicas == 0 {
		r.Replicas = len(devices.Members)
	}
	if r.Batch < r.Replicas {
		return e, misuse("--batch %d is smaller than the %d replicas; use a larger --batch", r.Batch, r.Replicas)
	}
	d, err := benchDriver(ctx, r, m, devices)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	batch, err := benchBatch(m, r)
	if err != nil {
		return e, err
	}
	schedule, err := train.NewSchedule(r)
	if err != nil {
		return e, err
	}
	hyper := train.Hyper(r, schedule, 0)
	err = measure(c, &e, devices, func() error {
		result, err := d.Step(ctx, batch)
		if err != nil {
			return err
		}
		e.add(result.Timing)
		return d.Commit(ctx, hyper)
	})
	return e, err
}

// benchDriver loads the training program of a recipe.
func benchDriver(ctx context.Context, r *train.Recipe, m *models.Model, set *deviceSet) (
	*parallel.Driver, error) {
	wrapped, err := parallel.Wrap(m.Graph, parallel.Options{Replicas: r.Replicas, BN: r.BN, Stats: r.BNStats})
	if err != nil {
		return nil, err
	}
	trained, err := train.Trained(m.Graph, nil)
	if err != nil {
		return nil, err
	}
	program, err := train.Program(r, m.Graph, wrapped, trained)
	if err != nil {
		return nil, err
	}
	return parallel.Open(ctx, program, m.State, set.Members,
		parallel.Config{Replicas: r.Replicas, Batch: r.Batch, Rendezvous: remote.Rendezvous{}})
}

// benchBatch makes a batch of random inputs with the labels 0, 0, 0, ...
func benchBatch(m *models.Model, r *train.Recipe) (parallel.Batch, error) {
	f := m.Graph.Main
	x, err := randomInputs(m, r.Batch)
	shape := f.Values[f.Outputs[0].Value].Type.Shape
	if err == nil && len(shape) == 0 {
		err = fmt.Errorf("model %s has one output for each sample, and training needs classes", m.Architecture)
	}
	if err != nil {
		return parallel.Batch{}, err
	}
	return parallel.Batch{Sizes: parallel.Split(r.Batch, r.Replicas), Inverse: 1 / float32(r.Batch),
		Rows: map[string]tensor.Tensor{
			f.Values[f.Inputs[0]].Name: x,
			parallel.InputLabels:       tensor.New(tensor.I32, append([]int{r.Batch}, shape[1:]...)...),
			parallel.InputIdent:        tensor.New(tensor.I64, r.Batch, 2),
		}}, nil
}
