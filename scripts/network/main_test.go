package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/internal/inprocess"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// TestBytesOfAStep compares the bytes that a rank sends in a step with the number that the page of figures
// states: the lower bound for a sum, plus the bytes of small exchanges.
func TestBytesOfAStep(t *testing.T) {
	defer func(was string) { *model = was }(*model)
	*model = "mlp-bn"
	for _, mode := range []bn.Mode{bn.Sync, bn.Replica} {
		plan, err := planOf(mode)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []int{2, 3, 4, 8} {
			_, want := plan.step(p, 10)
			counted, err := counted(t, mode, p)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("batch norm %s, %d ranks: %d bytes per step, calculated %.0f", mode, p, counted, want)
			if ratio := float64(counted) / want; ratio < 0.98 || ratio > 1.05 {
				t.Errorf("batch norm %s, %d ranks: %d bytes per step, calculated %.0f", mode, p, counted, want)
			}
		}
	}
}

// counted trains on size ranks with one replica each. It returns the number of bytes that a rank sent in the
// last step, the largest of all ranks.
func counted(t *testing.T, mode bn.Mode, size int) (most int64, err error) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	errs := make([]error, size)
	for i, r := range inprocess.New(size) {
		wait.Go(func() {
			p := fabric.New(r, time.Minute)
			errs[i] = p.Together(func() error {
				return trainOn(t, p, mode, func(s train.Stepped) {
					mu.Lock()
					defer mu.Unlock()
					most = 0
					for _, share := range s.Ranks {
						most = max(most, share.Bytes)
					}
				})
			}, error.Error)
		})
	}
	wait.Wait()
	return most, errors.Join(errs...)
}

func trainOn(t *testing.T, p *fabric.Peers, mode bn.Mode, done func(train.Stepped)) error {
	source, err := data.Open(t.Context(), "glyphs:64", data.Options{Split: data.Train})
	if err != nil {
		return err
	}
	defer source.Close()
	m, err := models.Build(*model, models.Options{})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		return err
	}
	d, err := ref.Provider{}.Open(t.Context(), device.DefaultID, device.Options{})
	if err != nil {
		return err
	}
	recipe := recipe.Recipe{Release: "test", Model: *model, Init: "seed", Steps: 3, Batch: 16, Replicas: p.Size(),
		Data: recipe.Data{Kind: "glyphs", Samples: 64, Classes: 10}, Accumulate: 1, Tail: parallel.Keep,
		BN: mode, BNStats: bn.Pooled, BNUpdate: bn.EveryStep, WeightSync: weightsync.AllReduce,
		BNMin: "refuse", Optimizer: "sgd", LR: 0.05, Schedule: "constant", Precision: "f32", Save: "last", EvalEvery: 1}
	s, err := train.New(context.Background(), &recipe, m, train.Config{Train: source, Peers: p, Workers: 1,
		LogEvery: 1, Devices: []parallel.Member{{Name: fmt.Sprintf("ref:%d", p.Rank()), Device: d}},
		Events: func(e train.Event) {
			if s, ok := e.(train.Stepped); ok {
				done(s)
			}
		}})
	if err != nil {
		return err
	}
	_, err = s.Run(context.Background())
	return errors.Join(err, s.Close())
}
