package progress

import (
	"encoding/json"
	"fmt"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

// Position is the position of a run and its sums so far. It is part of every
// checkpoint.
type Position struct {
	Step     int     `json:"step"`               // optimizer steps done
	LossSum  float64 `json:"loss_sum"`           // loss sum of the epoch so far
	Correct  float64 `json:"correct"`            //
	Counted  float64 `json:"counted"`            //
	Seen     int     `json:"seen"`               // samples of the epoch so far
	Repeated int     `json:"repeated"`           //
	LeftOut  int     `json:"left_out,omitempty"` // steps without a label that counts
	Closed   int     `json:"closed"`             // step at the end of the last epoch
	Rebuilt  int     `json:"rebuilt,omitempty"`  // epoch after which the model was last rebuilt, for int8
	Stale    int     `json:"stale"`              // number of evaluations since the best one
	BestStep int     `json:"best_step"`          // step of the best evaluation; 0 before the first
	Best     float64 `json:"best"`               // figure of the best evaluation

	Plateau   *recipe.Plateau       `json:"plateau,omitempty"` // state of a plateau schedule
	Staleness *weightsync.Staleness `json:"late,omitempty"`    // staleness of gradients, with Sync "async:S"
}

// Reductions returns how often a plateau schedule has reduced the rate.
func (p *Position) Reductions() int {
	if p.Plateau == nil {
		return 0
	}
	return p.Plateau.Reductions
}

// Record is the content of a checkpoint's progress.
type Record struct {
	Progress Position `json:"progress"`
	Paths    Paths    `json:"paths"`
	Settings Settings `json:"settings"`
	Chained  bool     `json:"chained,omitempty"` // the checkpoint has a chain
}

// PathsOf returns the paths of the data of the run of a checkpoint.
func PathsOf(k *serialize.Checkpoint) (Paths, error) {
	p, err := Read(k)
	return p.Paths, err
}

func Read(k *serialize.Checkpoint) (Record, error) {
	var p Record
	if err := json.Unmarshal(k.Progress, &p); err != nil {
		return p, fmt.Errorf("checkpoint: progress: %w", err)
	}
	return p, nil
}

// Paths has the paths of a run's data and of its results.
type Paths struct {
	Data       string `json:"data"`
	Validation string `json:"validation"`
	Output     string `json:"output"`
}
