package bnctl

import (
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
)

// Run is a training run: new, or resumed from a checkpoint. One goroutine at a time uses it.
type Run struct {
	watch
	o                TrainOptions
	paths            progress.Paths // paths in the options, completed from the checkpoint
	checkpoint       string         // file to write checkpoints to; may be ""
	from             *serialize.Checkpoint
	previous         *recipe.Recipe   // recipe of from; nil in a new run
	data, validation data.Source      // validation may be nil
	valSplit         *recipe.ValSplit // the part of the data for validation, or nil
	recipe           *recipe.Recipe
	imported         string // format of the file that the weights came from
	prepared         *Prepared
	fleet            *fleet.Fleet
	unlock           func() // unlocks the output files
	begun            bool
}

// Recipe returns the recipe of the run: recipe.Default of the model, or the recipe of the checkpoint. The
// caller may change it until Prepare or Train, which add the identity of the model and the data. Of the
// recipe of a checkpoint only some fields may change: see train.Resume.
func (r *Run) Recipe() *recipe.Recipe { return r.recipe }

// Prepared holds the parts of a run, for train.New. The run closes the data.
type Prepared struct {
	Recipe           *recipe.Recipe // complete, except for the kernel class of the devices
	Model            *models.Model  // nil in a resumed run: its checkpoint has the model
	Data, Validation data.Source    // Validation may be nil
}

// resumeCommand returns the command that resumes the run, or "" if only its checkpoint is
// known.
func (r *Run) resumeCommand() string {
	if r.o.ResumeCommand == nil {
		return ""
	}
	return r.o.ResumeCommand(r.checkpoint)
}

// Close closes data and devices, and unlocks the outputs. It may be called twice.
func (r *Run) Close() {
	for _, s := range []data.Source{r.data, r.validation} {
		if s != nil && r.o.Source == nil {
			_ = s.Close() // it was only read
		}
	}
	r.data, r.validation = nil, nil
	if r.fleet != nil {
		_ = r.fleet.Close()
		r.fleet = nil
	}
	r.unlock()
	r.unlock = func() {}
}

// follows reports whether this rank leaves the writing of files to rank 0.
func (r *Run) follows() bool { return r.o.Peers != nil && r.o.Peers.Rank() > 0 }

// replicas returns the number of replicas of this rank.
func (r *Run) replicas() int {
	all, p := r.recipe.StepReplicas(), r.o.Peers
	if p == nil || p.Size() > all {
		return all
	}
	return parallel.Split(all, p.Size())[p.Rank()]
}
