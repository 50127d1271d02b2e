package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bnctl/bnctl/internal/awake"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// checkpointer saves a run that ends before its last step: a checkpoint in a file when the
// run is interrupted, and the last one kept in memory when all devices are lost. It reads
// the trainer's fields and never changes them.
type checkpointer struct {
	plan     *plan
	trainer  *trainer
	every    int                   // steps between checkpoints, as rank 0 has it; 0: write no checkpoints
	saved    int                   // step of the last checkpoint in the file
	snapshot *serialize.Checkpoint // written if all devices are lost
}

// take makes a checkpoint of the current state of the run, and keeps it in case all devices are lost
// later. While the run has no driver, take returns the last checkpoint.
func (r *checkpointer) take(ctx context.Context) (*serialize.Checkpoint, error) {
	if r.trainer.driver == nil {
		return r.snapshot, nil
	}
	k, err := r.trainer.checkpoint(ctx)
	if err != nil {
		return nil, err
	}
	r.snapshot = k
	return k, nil
}

// stopped returns err. It writes a checkpoint for a run that was interrupted, or has lost
// all devices.
func (r *checkpointer) stopped(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errStopped):
		return r.interrupted(r.trainer.runContext)
	case ctx.Err() != nil:
		return r.interrupted(ctx)
	case errors.Is(err, parallel.NoDevices):
		return r.abandoned(ctx, err)
	}
	return err
}

// save writes the checkpoint, if the run has a file for it.
func (r *checkpointer) save(ctx context.Context) error {
	if r.every == 0 {
		return nil
	}
	k, err := r.take(ctx)
	if err != nil {
		return err
	}
	return r.write(k)
}

// complete writes the checkpoint of the last step again, with the statistics of its template, if there
// are any and the checkpoint lacks them.
func (r *checkpointer) complete(statistics map[string]tensor.Tensor) error {
	if r.every == 0 || len(statistics) == 0 || r.snapshot.Set(serialize.SetEstimated) != nil {
		return nil
	}
	k := *r.snapshot
	k.Sets = slices.Clone(k.Sets)
	estimated{statistics: statistics}.pack(&k)
	return r.write(&k)
}

// estimated are the running statistics of a template that is made after a step.
type estimated struct {
	step       int
	statistics map[string]tensor.Tensor
}

// pack adds the statistics to the sets of a checkpoint.
func (e estimated) pack(k *serialize.Checkpoint) {
	if len(e.statistics) == 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(k.Sets, serialize.SetEstimated, func(s serialize.Set, name string) int {
		return strings.Compare(s.Name, name)
	})
	k.Sets = slices.Insert(k.Sets, at, serialize.Set{Name: serialize.SetEstimated, Tensors: e.statistics})
}

// write writes a checkpoint to the file of the run.
func (r *checkpointer) write(k *serialize.Checkpoint) error {
	if r.plan.config.Checkpoint == "" { // only rank 0 has a path and writes the file
		r.saved = r.trainer.progress.Step
		return nil
	}
	if err := serialize.WriteCheckpoint(r.plan.config.Checkpoint, k); err != nil {
		return err
	}
	p, err := progress.Read(k)
	if err != nil {
		return err
	}
	r.saved = p.Progress.Step
	r.plan.emit(CheckpointWritten{Path: r.plan.config.Checkpoint, Step: r.saved})
	return nil
}

// interval returns the number of steps between two checkpoints. 0 means that no checkpoints are written.
func (p *plan) interval() int {
	if p.config.Checkpoint == "" {
		return 0
	}
	return cmp.Or(p.config.CheckpointEvery, p.recipe.StepsPerEpoch())
}

// saveIfDue writes a checkpoint every r.every steps. Between two files it keeps a checkpoint in
// memory if the driver's snapshot is due.
func (r *checkpointer) saveIfDue(ctx context.Context) error {
	if r.every > 0 && r.trainer.progress.Step != r.saved && r.trainer.progress.Step%r.every == 0 {
		return r.save(ctx)
	}
	if r.trainer.driver.SnapshotDue() {
		_, err := r.take(ctx)
		return err
	}
	return nil
}

// abandoned writes the last snapshot of a run that has lost all devices. If the host holds all state,
// it writes the current state instead.
func (r *checkpointer) abandoned(ctx context.Context, err error) error {
	if r.trainer.weights.atHost() {
		if _, err := r.take(ctx); err != nil {
			return err
		}
	}
	if r.plan.config.Checkpoint == "" || r.snapshot == nil {
		return err
	}
	if writeErr := r.write(r.snapshot); writeErr != nil {
		return fmt.Errorf("%w; the checkpoint could not be written: %w", err, writeErr)
	}
	goOn := cmp.Or(r.plan.config.GoOn, r.plan.config.withOptionNames("{resume} ")+r.plan.config.Checkpoint)
	return problem.Advise(fmt.Sprintf("continue with %s", goOn), "%w; the run is at step %d in %s", err,
		r.saved, r.plan.config.Checkpoint)
}

// interrupted writes a checkpoint for a run that was interrupted, and returns the cause. It
// has ten seconds.
func (r *checkpointer) interrupted(ctx context.Context) error {
	cause := cmp.Or(context.Cause(ctx), errStopped)
	grace, cancel := awake.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := r.save(grace)
	switch {
	case err == nil:
		return cause
	case errors.Is(err, parallel.NoDevices):
		return r.abandoned(ctx, cause)
	}
	return fmt.Errorf("%w; the checkpoint could not be written: %w", cause, err)
}
