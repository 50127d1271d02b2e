package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/study"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// prepare opens the data and settles what all runs have alike.
func (s *studyRun) prepare(ctx context.Context) (err error) {
	if err := s.openData(); err != nil {
		return err
	}
	if s.data, err = data.Subset(s.data, s.c.Int("samples"), 0); err != nil {
		return misuse("--samples: %v", err)
	}
	if s.val, err = data.Subset(s.val, s.c.Int("val-samples"), 0); err != nil {
		return misuse("--val-samples: %v", err)
	}
	if err := s.trainer.prepare(ctx); err != nil {
		return err
	}
	devices, err := openDevices(ctx, s.c, s.recipe.Precision, s.recipe.Batch)
	if err != nil {
		return err
	}
	s.recipe.Kernels = devices.kernels()
	if err := devices.Close(); err != nil {
		return err
	}
	return s.settle()
}

// trainAll makes the runs that are not there yet, seed by seed.
func (s *studyRun) trainAll() error {
	r := s.results
	done, all := 0, len(r.Seeds)*len(r.Settings())
	for _, seed := range r.Seeds {
		for _, at := range r.Settings() {
			done++
			name := fmt.Sprintf("%s, %d samples per replica, seed %d", at.Arm, at.PerReplica, seed)
			if r.Find(at, seed, s.digestOf(at, seed)) != nil {
				s.out.note("%d/%d  %s: is there", done, all, name)
				continue
			}
			s.out.note("%d/%d  %s", done, all, name)
			run, err := s.trainOne(s.c.Context, at, seed)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			r.Keep(*run)
			s.out.event("run", run)
			if err := s.save(); err != nil {
				return err
			}
		}
	}
	return nil
}

// digestOf identifies what a run of a setting is.
func (s *studyRun) digestOf(at study.Setting, seed uint64) string {
	r := s.recipeOf(at, seed)
	text := r.JSON()
	if r.BNPrecise > 0 && r.Augment != "none" {
		text = append(text, "estimated on augmented images"...) // once it was on plain ones
	}
	for _, k := range s.besides(at) {
		text = append(text, k.Name...)
	}
	return digest(text)
}

// on opens the devices that a setting runs on.
func (s *studyRun) on(ctx context.Context, at study.Setting) (*deviceSet, error) {
	if at.Arm != study.Single {
		return openDevices(ctx, s.c, s.recipe.Precision, at.Replicas)
	}
	several := s.c.String("devices")
	defer s.c.Set("devices", several)
	if err := s.c.Set("devices", s.c.String("single")); err != nil {
		return nil, err
	}
	return openDevices(ctx, s.c, s.recipe.Precision, at.Replicas)
}

// initialised returns the model with the weights that a seed, or --init, gives it.
func (s *studyRun) initialised(seed uint64) (*models.Model, error) {
	m := s.model.Clone()
	if s.c.String("init") != "" || s.recipe.Init != "seed" {
		return m, nil
	}
	return m, models.Init(m, seed)
}

// trainOne makes one run and scores it with every set of statistics.
func (s *studyRun) trainOne(ctx context.Context, at study.Setting, seed uint64) (*study.Run, error) {
	m, err := s.initialised(seed)
	if err != nil {
		return nil, err
	}
	devices, err := s.on(ctx, at)
	if err != nil {
		return nil, err
	}
	defer devices.Close()
	run := &study.Run{Setting: at, Seed: seed, Recipe: s.digestOf(at, seed), Epochs: []study.Epoch{}}
	config, err := s.configOf(at, devices, run)
	if err != nil {
		return nil, err
	}
	session, err := train.New(ctx, s.recipeOf(at, seed), m, config)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	began := time.Now()
	made, err := session.Run(ctx)
	if err != nil {
		return nil, err
	}
	run.Steps, run.Seconds = s.recipe.TotalSteps(), time.Since(began).Seconds()
	if run.SHA256, err = serialize.WriteModel(s.modelPath(at, seed), made); err != nil {
		return nil, err
	}
	return run, s.score(ctx, session, made, run)
}

// modelPath is where a run leaves its template.
func (s *studyRun) modelPath(at study.Setting, seed uint64) string {
	return filepath.Join(s.folder, "models", fmt.Sprintf("%s-%d-seed%d.bnm", at.Arm, at.PerReplica, seed))
}

// configOf says how a run is made; what its epochs tell goes into run.
func (s *studyRun) configOf(at study.Setting, devices *deviceSet, run *study.Run) (train.Config, error) {
	augment, err := data.ParseAugment(s.recipe.Augment)
	if err != nil {
		return train.Config{}, misuse("--augment: %v", err)
	}
	config := train.Config{Train: s.data, Validation: s.val, Workers: s.c.Int("workers"),
		Devices: devices.Members, Reopen: devices.Reopen, Rendezvous: remote.Rendezvous{}, Besides: s.besides(at),
		LogEvery: 1 << 30, Events: func(e train.Event) { s.see(e, run) }}
	config.Transform = modelfile.Transform(s.model, s.data.Info())
	config.Transform.Augment = augment
	return config, os.MkdirAll(filepath.Join(s.folder, "models"), 0o777)
}

// see takes what a run tells.
func (s *studyRun) see(e train.Event, run *study.Run) {
	switch e := e.(type) {
	case train.EpochDone:
		if e.ValAccuracy == nil {
			return
		}
		run.Epochs = append(run.Epochs, study.Epoch{Number: e.Epoch, Accuracy: *e.ValAccuracy,
			Loss: float64(*e.ValLoss)})
		s.out.note("   epoch %d: train loss %.4f, val loss %.4f, accuracy %.2f %%  (%.0f img/s)",
			e.Epoch, e.TrainLoss, *e.ValLoss, 100**e.ValAccuracy, e.Throughput)
	case train.DeviceLost:
		s.out.note("   device %s lost at step %d: %s; %s", e.Device, e.Step, e.Reason, movedTo(e.MovedTo))
	}
}

// score evaluates the weights of a run with every set of statistics.
func (s *studyRun) score(ctx context.Context, session *train.Session, made *models.Model,
	run *study.Run) error {
	names, sets := []string{"pooled"}, []map[string]tensor.Tensor{nil}
	layers, err := bn.Layers(made.Graph.Main)
	if err != nil {
		return err
	}
	sets[0] = statisticsOf(made.State, layers)
	if run.Arm == study.Replica {
		precise := sets[0]
		names = nil
		if sets, err = session.Beside(); err != nil {
			return err
		}
		for _, k := range s.besides(run.Setting) {
			names = append(names, k.Name)
		}
		run.Retained = retained(layers, sets[slices.Index(names, "mean")], sets[slices.Index(names, "pooled")])
		names, sets = append(names, "precise"), append(sets, precise)
	}
	for i, set := range sets {
		e, err := session.EvaluateWith(ctx, set)
		if err != nil {
			return err
		}
		run.Scores = append(run.Scores, study.Score{Statistics: names[i], Samples: e.Counted,
			Accuracy: e.Accuracy(), Loss: e.Loss()})
	}
	return nil
}

// statisticsOf picks the running statistics out of a state.
func statisticsOf(state map[string]tensor.Tensor, layers []bn.Layer) map[string]tensor.Tensor {
	out := maps.Clone(state)
	maps.DeleteFunc(out, func(name string, _ tensor.Tensor) bool {
		return !slices.ContainsFunc(layers, func(l bn.Layer) bool { return name == l.Mean || name == l.Variance })
	})
	return out
}

// retained compares the running variances of two sets of statistics.
func retained(layers []bn.Layer, some, all map[string]tensor.Tensor) []study.Kept {
	var out []study.Kept
	for _, l := range layers {
		sum, n := 0.0, 0.0
		for c, v := range all[l.Variance].F32() {
			if v > 0 {
				sum += float64(some[l.Variance].F32()[c]) / float64(v)
				n++
			}
		}
		if n > 0 {
			out = append(out, study.Kept{Layer: l.Name, Ratio: sum / n})
		}
	}
	return out
}
