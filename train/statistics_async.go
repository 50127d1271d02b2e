package train

import (
	"encoding/json"
	"fmt"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// asyncStatistics keeps statistics and merges the moments of replicas late. A template made
// in the middle of a run includes the pending moments.
type asyncStatistics struct{ async *bn.Async }

func (r *asyncStatistics) Live() (map[string]tensor.Tensor, error) { return r.async.Tensors(), nil }

func (r *asyncStatistics) Final() (map[string]tensor.Tensor, error) {
	d, err := r.async.Drained()
	if err != nil {
		return nil, err
	}
	return d.Tensors(), nil
}

func (r *asyncStatistics) next(moments []tensor.Tensor) (running, error) {
	next, err := r.async.Next(moments)
	return &asyncStatistics{next}, err
}

// staleness returns the number of moments that the statistics of a recipe have merged, and the total number
// of steps that these moments had waited. Both are 0 if moments never wait.
func (s statistics) staleness() (merged, waited int64) {
	if len(s) == 0 {
		return 0, 0
	}
	if r, ok := s[0].running.(*asyncStatistics); ok {
		return r.async.Merged, r.async.TotalDelay
	}
	return 0, 0
}

// waiting is the name of the set with the pending moments, and of the attachment with the rest of
// bn.Pending.
const waiting = "waiting"

func (r *asyncStatistics) pack(prefix string, k *serialize.Checkpoint) error {
	p := r.async.Pending()
	k.Sets = append(k.Sets, serialize.Set{Name: prefix + serialize.SetRunning, Updates: p.Updates,
		Tensors: r.async.Tensors()})
	if len(p.History) > 0 {
		k.Sets = append(k.Sets, serialize.Set{Name: prefix + waiting, Tensors: p.History})
	}
	p.History = nil
	b, err := json.Marshal(p)
	if k.Attachments == nil {
		k.Attachments = map[string][]byte{}
	}
	k.Attachments[prefix+waiting] = b
	return err
}

func (r *asyncStatistics) restore(prefix string, k *serialize.Checkpoint) error {
	var p bn.Pending
	if err := json.Unmarshal(k.Attachments[prefix+waiting], &p); err != nil {
		return fmt.Errorf("checkpoint: attachment %s: %w", prefix+waiting, err)
	}
	set := k.Set(prefix + serialize.SetRunning)
	if set == nil {
		return fmt.Errorf("checkpoint: the statistics %s are missing", prefix+serialize.SetRunning)
	}
	if history := k.Set(prefix + waiting); history != nil {
		p.History = history.Tensors
	}
	return r.async.Restore(set.Tensors, p)
}
