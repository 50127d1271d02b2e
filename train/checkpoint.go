package train

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/bnctl/bnctl/awake"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// setBest names the set of a checkpoint with the state that served best so far.
const setBest = "best"

// position is what a checkpoint keeps as its progress.
type position struct {
	Progress Progress `json:"progress"`
	Paths    Paths    `json:"paths"`
}

// PathsOf returns where the run of a checkpoint found its data.
func PathsOf(k *serialize.Checkpoint) (Paths, error) {
	p, err := positionOf(k)
	return p.Paths, err
}

func positionOf(k *serialize.Checkpoint) (position, error) {
	var p position
	if err := json.Unmarshal(k.Progress, &p); err != nil {
		return p, fmt.Errorf("checkpoint: progress: %w", err)
	}
	return p, nil
}

// checkpoint puts the run as it stands into a checkpoint. It is what remains
// if all devices are lost later.
func (s *Session) checkpoint(ctx context.Context) (*serialize.Checkpoint, error) {
	state, err := s.allState(ctx)
	if err != nil {
		return nil, err
	}
	statistics, err := s.statistics()
	if err != nil {
		return nil, err
	}
	state = maps.Clone(state)
	maps.Copy(state, statistics)
	progress, err := json.Marshal(position{s.progress, s.config.Paths})
	if err != nil {
		return nil, err
	}
	k := s.pack(state)
	k.Progress = progress
	if s.best != nil {
		k.Sets = append(k.Sets, serialize.Set{Name: setBest, Tensors: s.best.state})
	}
	s.packLate(k)
	s.packLocal(k)
	if err := s.packRunning(k); err != nil {
		return nil, err
	}
	s.snapshot = k
	return k, nil
}

// pack makes a checkpoint of a state.
func (s *Session) pack(state map[string]tensor.Tensor) *serialize.Checkpoint {
	return &serialize.Checkpoint{Architecture: s.template.Architecture, Graph: s.wrapped,
		Preprocess: s.template.Preprocess, Labels: s.template.Labels, Recipe: s.recipe.JSON(),
		State: state, Training: s.trainingState()}
}

// trainingState declares what only training needs.
func (s *Session) trainingState() []graph.State {
	return s.program.State[len(s.template.Graph.State):]
}

// restore takes progress, best and statistics from a checkpoint.
func (s *Session) restore(k *serialize.Checkpoint) error {
	p, err := positionOf(k)
	if err != nil {
		return err
	}
	s.progress = p.Progress
	if b := k.Set(setBest); b != nil {
		s.best = &best{b.Tensors}
	}
	if err := s.restoreLate(k); err != nil {
		return err
	}
	if err := s.restoreLocal(k); err != nil {
		return err
	}
	return s.restoreRunning(k)
}

// save writes the checkpoint, if the run has a file for it.
func (s *Session) save(ctx context.Context) error {
	if s.config.Checkpoint == "" {
		return nil
	}
	k, err := s.checkpoint(ctx)
	if err != nil {
		return err
	}
	return s.write(k)
}

func (s *Session) write(k *serialize.Checkpoint) error {
	if err := serialize.WriteCheckpoint(s.config.Checkpoint, k); err != nil {
		return err
	}
	p, err := positionOf(k)
	if err != nil {
		return err
	}
	s.saved = p.Progress.Step
	s.emit(CheckpointWritten{Path: s.config.Checkpoint, Step: s.saved})
	return nil
}

// checkpointIfDue writes a checkpoint every so many steps, or after an epoch.
// In between it keeps one in memory, if lost devices can come back.
func (s *Session) checkpointIfDue(ctx context.Context) error {
	every := s.config.CheckpointEvery
	if every == 0 {
		every = s.recipe.StepsPerEpoch()
	}
	if s.progress.Step != s.saved && s.progress.Step%every == 0 && s.config.Checkpoint != "" {
		return s.save(ctx)
	}
	if s.driver.SnapshotDue() {
		_, err := s.checkpoint(ctx)
		return err
	}
	return nil
}

// abandoned writes the last snapshot of a run that has lost all devices. Where
// the host has all state, nothing is older than that.
func (s *Session) abandoned(ctx context.Context, err error) error {
	if s.local != nil {
		if _, err := s.checkpoint(ctx); err != nil {
			return err
		}
	}
	if s.config.Checkpoint == "" || s.snapshot == nil {
		return err
	}
	if writeErr := s.write(s.snapshot); writeErr != nil {
		return fmt.Errorf("%w; the checkpoint could not be written: %w", err, writeErr)
	}
	goOn := cmp.Or(s.config.GoOn, "--resume "+s.config.Checkpoint)
	return fmt.Errorf("%w; the run stands at step %d in %s; go on with %s", err, s.saved,
		s.config.Checkpoint, goOn)
}

// interrupted writes a checkpoint for a run that was told to stop, and
// returns why. It has ten seconds.
func (s *Session) interrupted(ctx context.Context) error {
	cause := context.Cause(ctx)
	grace, cancel := awake.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := s.save(grace)
	switch {
	case err == nil:
		return cause
	case errors.Is(err, parallel.NoDevices):
		return s.abandoned(ctx, cause)
	}
	return fmt.Errorf("%w; the checkpoint could not be written: %w", cause, err)
}

// finish makes the template: the last or the best weights, their average if
// the recipe has one, statistics estimated anew where it says so.
func (s *Session) finish(ctx context.Context) (*models.Model, error) {
	if s.saved != s.progress.Step {
		if err := s.save(ctx); err != nil {
			return nil, err
		}
	}
	state, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	if s.best != nil {
		state = maps.Clone(s.best.state)
	}
	if s.recipe.EMA > 0 {
		for _, name := range s.trained {
			state[name] = state["average/"+name]
		}
	}
	if n := s.estimateOver(); n > 0 {
		statistics, err := s.estimate(ctx, state, n)
		if err != nil {
			return nil, err
		}
		maps.Copy(state, statistics)
	}
	m, _, err := serialize.Strip(s.pack(state))
	return m, err
}

// estimateOver returns over how many samples the statistics are estimated at
// the end: those of averaged weights always are, over at least some batches.
func (s *Session) estimateOver() int {
	if s.recipe.averages() && s.recipe.BNPrecise == 0 && len(s.kept) > 0 {
		return averageSamples
	}
	return s.recipe.BNPrecise
}

// averageSamples is how many samples the statistics of averaged weights are
// estimated over, if the recipe does not say.
const averageSamples = 8192

// Finished tells of the template that the caller wrote.
func (s *Session) Finished(path, sum string) Finished {
	done := Finished{Model: path, SHA256: sum, Steps: s.progress.Step, Seconds: time.Since(s.began).Seconds()}
	if late := s.progress.Late; late != nil {
		done.Dropped = late.Left()
	}
	return done
}
