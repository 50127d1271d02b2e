package train

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// errStopped is the reason for stopping a rank before its context has ended.
var errStopped = errors.New("the run was stopped on another rank")

// takeRank refuses features that do not support several ranks, and leaves files and events
// to rank 0.
func (p *plan) takeRank() error {
	if p.config.Peers == nil {
		return nil
	}
	if p.recipe.HasSeparateWeights() || p.recipe.HasLateGradients() {
		return problem.New("weight-sync", string(p.recipe.WeightSync), "it is not there over several ranks",
			"use {weight-sync} allreduce or template")
	}
	if p.config.Peers.Rank() > 0 {
		p.config.Checkpoint, p.config.Events, p.config.Watch = "", nil, nil
		p.config.Observe, p.config.Evaluated, p.config.Divided = nil, nil, nil
	}
	return nil
}

// agreement holds the values that must be equal on all ranks before the first step.
type agreement struct {
	Recipe json.RawMessage `json:"recipe"`
	Step   int             `json:"step"`
	Every  int             `json:"every"` // steps between checkpoints; the run uses rank 0's value
	State  string          `json:"state"` // SHA-256 of all that the run begins with
	Tight  bool            `json:"tight"` // too little free memory; ranks may differ

	Recompute string `json:"recompute"` // Config.Recompute
	Stages    string `json:"stages"`    // Config.Stages; "" for one stage
}

// agree returns an error unless all ranks begin the same run at the same step with the same
// state. tight reports whether some device, of any rank, has too little memory free: then
// all devices act as if they had too little.
func (s *Session) agree(ctx context.Context, state map[string]tensor.Tensor,
	from *serialize.Checkpoint) (tight bool, err error) {
	peers := s.plan.config.Peers
	tight = s.plan.tight(s.devices.members)
	if peers == nil {
		return tight, nil
	}
	mine := agreement{s.plan.recipe.JSON(), s.trainer.progress.Step, s.checkpointer.every,
		digest(state, from), tight, s.plan.config.Recompute, ""}
	if stages := s.plan.config.Stages; !stages.One() {
		mine.Stages = stages.String()
	}
	b, err := json.Marshal(mine)
	if err != nil {
		return tight, err
	}
	all, err := peers.AllGather(ctx, b)
	if err != nil {
		return tight, err
	}
	records := make([]agreement, len(all))
	for rank, record := range all {
		if err := json.Unmarshal(record, &records[rank]); err != nil {
			return tight, &parallel.RankError{Rank: rank, Text: err.Error()}
		}
		tight = tight || records[rank].Tight
	}
	s.checkpointer.every = records[0].Every
	for rank, theirs := range records {
		if what := theirs.differs(records[0], tight); what != "" {
			return tight, &parallel.RankError{Rank: rank, Text: what,
				Advice: "start all ranks with the same options, data and files"}
		}
	}
	return tight, nil
}

// differs describes a difference from rank 0, or returns "" if there is no difference. tight is the
// result over all ranks.
func (a agreement) differs(first agreement, tight bool) string {
	if string(a.Recipe) != string(first.Recipe) {
		mine, err := recipe.Parse(a.Recipe)
		if err != nil {
			return err.Error()
		}
		theirs, err := recipe.Parse(first.Recipe)
		if err != nil {
			return err.Error()
		}
		var fields []string
		for _, d := range mine.Differences(theirs) {
			fields = append(fields, fmt.Sprintf("%s is %s, on rank 0 %s", d.Field, d.Have, d.Want))
		}
		return "its recipe is another: " + strings.Join(append(fields, mine.LengthDiffers(theirs)...), ", ")
	}
	switch {
	case a.Step != first.Step:
		return fmt.Sprintf("it begins at step %d, rank 0 at %d", a.Step, first.Step)
	case a.State != first.State:
		return "it begins with other weights than rank 0"
	case a.Stages != first.Stages:
		return fmt.Sprintf("its {stages} is %s, on rank 0 %s", cmp.Or(a.Stages, "1"), cmp.Or(first.Stages, "1"))
	case recomputes(a.Recompute, tight) != recomputes(first.Recompute, tight),
		a.Stages != "" && recomputes(a.Recompute, true) != recomputes(first.Recompute, true):
		return fmt.Sprintf("its {recompute} is %s, on rank 0 %s", cmp.Or(a.Recompute, autoRecompute),
			cmp.Or(first.Recompute, autoRecompute))
	}
	return ""
}

// digest returns a hash of a state and of the other sets and attachments of a checkpoint.
func digest(state map[string]tensor.Tensor, c *serialize.Checkpoint) string {
	h := sha256.New()
	add := func(set string, tensors map[string]tensor.Tensor) {
		for _, name := range slices.Sorted(maps.Keys(tensors)) {
			t := tensors[name]
			fmt.Fprintln(h, set, name, t.DType, t.Shape)
			h.Write(t.Bytes)
		}
	}
	add("state", state)
	if c != nil {
		for _, set := range c.Sets {
			add(fmt.Sprint(set.Name, set.Updates), set.Tensors)
		}
		for _, name := range slices.Sorted(maps.Keys(c.Attachments)) {
			fmt.Fprintln(h, name)
			h.Write(c.Attachments[name])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// runOnRank runs one rank of several. It stops between two steps, when the context of any rank has ended,
// and it ends all ranks if it cannot continue.
func (s *Session) runOnRank(ctx context.Context) (*models.Model, error) {
	s.trainer.runContext = ctx
	defer context.AfterFunc(ctx, s.plan.config.Peers.ShortenTimeout)()
	m, err := s.run(context.WithoutCancel(ctx))
	told := errors.Is(err, errStopped) || ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
	switch {
	case err != nil && !told:
		s.plan.config.Peers.Abort(err.Error())
	case told: // all ranks get here only after rank 0 has written the checkpoint
		_, _ = s.plan.config.Peers.Broadcast(context.WithoutCancel(ctx), nil)
		err = &agreed{err}
	}
	return m, err
}

// agreed is the error of a rank that stops with all others.
type agreed struct{ error }

func (a *agreed) Unwrap() []error { return []error{a.error, fabric.Agreed} }

// orStop returns the context that ends when the run is to stop.
func (t *trainer) orStop(ctx context.Context) context.Context {
	if t.runContext != nil {
		return t.runContext
	}
	return ctx
}

// wanted returns which rows of a batch this rank reads: the rows of its replicas, and all
// rows of batches that may be used for the gap. nil means all rows.
func (s *Session) wanted() func(at data.Position, rows int) func(row int) bool {
	if s.plan.config.Peers == nil {
		return nil
	}
	r := s.plan.recipe
	first, last := s.trainer.driver.Group().Replicas()
	return func(at data.Position, rows int) func(row int) bool {
		step := at.Epoch*r.StepsPerEpoch() + at.Index
		sl := r.Tail.Slice(rows, r.StepBatch(), r.StepReplicas())
		if s.mayBeProbe(step) || sl.Dropped > 0 {
			return nil
		}
		needed, from := map[int]bool{}, 0
		for replica, n := range sl.Sizes {
			for i := from; i < from+n; i++ {
				if replica >= first && replica < last {
					needed[i%rows] = true // rows beyond the last one repeat the first rows
				}
			}
			from += n
		}
		return func(row int) bool { return needed[row] }
	}
}
