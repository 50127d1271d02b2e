package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/serialize/chain"
	"github.com/bnctl/bnctl/tensor"
)

// addLink adds the epoch that has ended to the chain of the run, if the run has one. evaluation
// is the sum of its evaluation, or "".
func (s *Session) addLink(ctx context.Context, epoch int, evaluation string) error {
	t := s.trainer
	if t.chain == nil {
		return nil
	}
	sum, err := t.stateSum(ctx)
	if err != nil {
		return err
	}
	t.chain = t.chain.Add(chain.Link{Epoch: epoch, Step: t.progress.Step, State: sum, Evaluation: evaluation})
	if s.plan.config.Chained == nil {
		return nil
	}
	return s.plan.config.Chained(t.chain)
}

// stateSum returns the sum of the state of a run: docs/format.md defines it. It covers weights,
// statistics, averages, optimizer, and whatever else a resumed run continues from.
func (t *trainer) stateSum(ctx context.Context) (string, error) {
	state, err := t.current(ctx)
	if err != nil {
		return "", err
	}
	k := t.plan.pack(state)
	t.weights.pack(k)
	if err := t.statistics.pack(k); err != nil {
		return "", err
	}
	return checkpointSum(k), nil
}

// checkpointSum returns the sum of the state, the sets and the attachments of a checkpoint. It leaves
// out the best epoch (an earlier link covers it), extra statistics and estimated statistics.
func checkpointSum(k *serialize.Checkpoint) string {
	h := sha256.New()
	models.HashState(h, k.State)
	sets := slices.SortedFunc(slices.Values(k.Sets), func(a, b serialize.Set) int {
		return strings.Compare(a.Name, b.Name)
	})
	for _, set := range sets {
		if set.Name != serialize.SetBest && set.Name != serialize.SetEstimated &&
			!strings.HasPrefix(set.Name, extraPrefix) {
			fmt.Fprintln(h, "set", set.Name, set.Updates)
			models.HashState(h, set.Tensors)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.Attachments)) {
		if name != chain.Attachment && !strings.HasPrefix(name, extraPrefix) {
			fmt.Fprintln(h, "attachment", name, len(k.Attachments[name]))
			h.Write(k.Attachments[name])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// startChain starts the chain of a new run with its initial state, or continues the chain of a
// checkpoint. A run from a checkpoint of an older release, without a chain, has no chain either.
func (t *trainer) startChain(state map[string]tensor.Tensor, checkpoint *serialize.Checkpoint) error {
	if checkpoint == nil {
		initial := models.Model{State: map[string]tensor.Tensor{}}
		for _, s := range t.plan.template.Graph.State {
			initial.State[s.Name] = state[s.Name]
		}
		t.chain = &chain.Chain{Start: initial.WeightsSum()}
		return nil
	}
	b, ok := checkpoint.Attachments[chain.Attachment]
	if p, err := progress.Read(checkpoint); !ok {
		if err == nil && p.Chained {
			err = fmt.Errorf("checkpoint: the chain is missing")
		}
		return err
	}
	c, err := chain.Decode(b)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	t.chain = c
	r, step := t.plan.recipe, t.progress.Step
	if step%r.StepsPerEpoch() != 0 && step < r.TotalSteps() {
		t.chain = c.Before(step) // drops the link of a shorter run that ended in the middle of an epoch
	}
	return nil
}
