package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/study"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// trainAll makes the runs that are missing. It makes all runs of a seed before the ones of the next seed.
func (s *runner) trainAll(ctx context.Context) error {
	if err := s.expectAll(ctx); err != nil {
		return err
	}
	r := s.results
	settings := slices.DeleteFunc(r.Settings(), r.IsRefused)
	done, total := 0, len(r.Seeds)*len(settings)
	for _, seed := range r.Seeds {
		for _, setting := range settings {
			done++
			name := fmt.Sprintf("%s, seed %d", setting.Name(), seed)
			if r.Find(setting, seed, s.digestOf(setting, seed)) != nil {
				s.note("%d/%d  %s: is there", done, total, name)
				continue
			}
			s.note("%d/%d  %s", done, total, name)
			run, err := s.trainOne(ctx, setting, seed)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			r.SetRun(*run)
			s.found(run)
			if err := s.save(); err != nil {
				return err
			}
		}
	}
	return nil
}

// refusal returns the reason why a setting can never be trained, or "" if err is another error. The reason is
// that statistics are frozen although new weights have none, or that moments are of a single value.
func refusal(setting study.Setting, err error) string {
	var tooFew *bn.TooFew
	var p *problem.Error
	switch {
	case errors.As(err, &tooFew):
		return tooFew.Error()
	case setting.Arm == study.Frozen && errors.As(err, &p) && p.Field == "bn":
		return p.Error()
	}
	return ""
}

// digestOf returns a digest that identifies a run of a setting.
func (s *runner) digestOf(setting study.Setting, seed uint64) string {
	r := s.recipeOf(setting, seed)
	text := r.JSON()
	if r.BNPrecise > 0 && !r.Augment.IsNone() {
		text = append(text, "estimated on augmented images"...) // earlier programs estimated on plain images
	}
	for _, k := range s.extraStatistics(setting) {
		text = append(text, k.Name...)
	}
	return sum(text)
}

// initialised returns the model with initial weights, which are drawn from a seed or read from a file.
func (s *runner) initialised(seed uint64) (*models.Model, error) {
	m := s.o.Model.Clone()
	if s.recipe.Init != recipe.Drawn {
		return m, nil
	}
	return m, models.Init(m, seed)
}

// trainOne makes one run, and evaluates it with every set of statistics.
func (s *runner) trainOne(ctx context.Context, setting study.Setting, seed uint64) (*study.Run, error) {
	run := &study.Run{Setting: setting, Seed: seed, Recipe: s.digestOf(setting, seed), Epochs: []study.Epoch{}}
	began := time.Now()
	r := s.recipeOf(setting, seed)
	m, err := s.initialised(seed)
	if err == nil && s.freezesLater(setting) {
		m, r.Init, err = s.trainFirst(ctx, m, run)
	}
	if err != nil {
		return nil, err
	}
	session, devices, err := s.start(ctx, run, m, r)
	if err != nil {
		return nil, err
	}
	defer devices.Close()
	defer session.Close()
	made, err := session.Run(ctx)
	if err != nil {
		return nil, err
	}
	run.Steps, run.Seconds = s.recipe.TotalSteps(), time.Since(began).Seconds()
	if run.SHA256, err = serialize.WriteModel(s.modelPath(setting, seed), made); err != nil {
		return nil, err
	}
	return run, s.score(ctx, session, made, run)
}

// freezesLater reports whether the runs of a setting begin with some epochs where statistics are not
// frozen.
func (s *runner) freezesLater(setting study.Setting) bool {
	return setting.Arm == study.Frozen && s.o.FrozenAfter > 0
}

// trainFirst trains the epochs before the statistics of a run are frozen. In them batch norm uses the whole
// batch. It returns the model and its SHA-256.
func (s *runner) trainFirst(ctx context.Context, m *models.Model, run *study.Run) (
	*models.Model, string, error,
) {
	r := s.recipeOf(study.Setting{Arm: study.Single, PerReplica: run.PerReplica, Replicas: 1}, run.Seed)
	r.Epochs = s.o.FrozenAfter
	session, devices, err := s.start(ctx, run, m, r)
	if err != nil {
		return nil, "", err
	}
	defer devices.Close()
	defer session.Close()
	made, err := session.Run(ctx)
	if err != nil {
		return nil, "", err
	}
	path := s.modelPath(run.Setting, run.Seed)
	sum, err := serialize.WriteModel(path, made)
	return made, sum, err
}

// start opens devices and prepares the training of m on them. The caller closes the session, and then the
// devices.
func (s *runner) start(ctx context.Context, run *study.Run, m *models.Model, r *recipe.Recipe) (
	*train.Session, *fleet.Fleet, error,
) {
	devices, err := s.open(ctx, s.devicesOf(run.Setting), run.Replicas)
	if err != nil {
		return nil, nil, err
	}
	config, err := s.configOf(run.Setting, devices, run)
	if err == nil {
		var session *train.Session
		if session, err = train.New(ctx, r, m, config); err == nil {
			return session, devices, nil
		}
	}
	return nil, nil, errors.Join(err, devices.Close())
}

// modelPath returns the path of a run's template.
func (s *runner) modelPath(setting study.Setting, seed uint64) string {
	return filepath.Join(s.o.Folder, "models", fmt.Sprintf("%s-%d-seed%d.bnm", setting.Arm, setting.PerReplica,
		seed))
}

// configOf returns the configuration of a run. It stores the results of the run's epochs in run.
func (s *runner) configOf(setting study.Setting, devices *fleet.Fleet, run *study.Run) (train.Config, error) {
	before := 0
	if len(run.Epochs) > 0 {
		before = s.o.FrozenAfter
	}
	config := train.Config{Train: s.o.Data, Validation: s.o.Validation, Workers: s.o.Workers,
		Fleet: devices, ExtraStatistics: s.extraStatistics(setting), LogEvery: 1 << 30, Option: s.o.Option,
		Events: func(e train.Event) { s.see(e, run, before) }}
	return config, os.MkdirAll(filepath.Join(s.o.Folder, "models"), 0o777)
}

// see handles an event of a run. previous is the number of epochs that were trained before the run.
func (s *runner) see(e train.Event, run *study.Run, previous int) {
	if e, ok := e.(train.EpochDone); ok && e.ValLoss != nil {
		epoch := study.Epoch{Number: previous + e.Epoch, Loss: float64(*e.ValLoss),
			MIoU: (*float64)(e.ValMIoU), AP50: (*float64)(e.ValAP50)}
		if e.ValAccuracy != nil { // detectors have no accuracy
			epoch.Accuracy = *e.ValAccuracy
		}
		run.Epochs = append(run.Epochs, epoch)
	}
	if s.o.Training != nil {
		s.o.Training(e)
	}
}

// score evaluates the weights of a run with every set of statistics.
func (s *runner) score(ctx context.Context, session *train.Session, model *models.Model,
	run *study.Run) error {
	names, sets := []string{"pooled"}, []map[string]tensor.Tensor{nil}
	layers, err := bn.Layers(model.Graph.Main)
	if err != nil {
		return err
	}
	sets[0] = statisticsOf(model.State, layers)
	if run.Arm == study.Replica {
		precise := sets[0]
		names = nil
		if sets, err = session.ExtraStatistics(); err != nil {
			return err
		}
		for _, k := range s.extraStatistics(run.Setting) {
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
		score := study.Score{Statistics: names[i], Samples: e.Counted, Accuracy: e.Accuracy(), Loss: e.Loss()}
		if overlap := float64(e.MeanOverlap()); e.Masks {
			score.MIoU = &overlap
		}
		if f := e.AveragePrecision(); f != nil {
			score.AP50 = &f.AP50
		}
		run.Scores = append(run.Scores, score)
	}
	return nil
}

// statisticsOf returns the running statistics of layers in a state.
func statisticsOf(state map[string]tensor.Tensor, layers []bn.Layer) map[string]tensor.Tensor {
	out := maps.Clone(state)
	maps.DeleteFunc(out, func(name string, _ tensor.Tensor) bool {
		return !slices.ContainsFunc(layers, func(l bn.Layer) bool { return name == l.Mean || name == l.Variance })
	})
	return out
}

// retained returns, for each layer, the ratio of the running variances in two sets of statistics.
func retained(layers []bn.Layer, subset, full map[string]tensor.Tensor) []study.VarianceRatio {
	var out []study.VarianceRatio
	for _, l := range layers {
		sum, n := 0.0, 0.0
		for c, v := range full[l.Variance].F32() {
			if v > 0 {
				sum += float64(subset[l.Variance].F32()[c]) / float64(v)
				n++
			}
		}
		if n > 0 {
			out = append(out, study.VarianceRatio{Layer: l.Name, Ratio: sum / n})
		}
	}
	return out
}
