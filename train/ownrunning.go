package train

import (
	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// ownRunning is statistics that each replica keeps for itself; they are merged
// by a rule whenever the model is used.
type ownRunning struct {
	*bn.Replicas
	rule bn.Rule
}

func (r *ownRunning) Live() (map[string]tensor.Tensor, error)  { return r.Merged(r.rule) }
func (r *ownRunning) Final() (map[string]tensor.Tensor, error) { return r.Merged(r.rule) }

// What is merged of them has to be held by float32 as well.
func (r *ownRunning) next(moments []tensor.Tensor) (running, error) {
	next, err := r.Next(moments)
	if err != nil {
		return nil, err
	}
	_, err = next.Merged(r.rule)
	return &ownRunning{next, r.rule}, err
}

func (r *ownRunning) pack(prefix string, k *serialize.Checkpoint) error {
	for i, own := range r.PerReplica {
		packSet(own, prefix+serialize.ReplicaSet(i), k)
	}
	return nil
}

func (r *ownRunning) restore(prefix string, k *serialize.Checkpoint) error {
	for i, own := range r.PerReplica {
		if err := restoreSet(own, prefix+serialize.ReplicaSet(i), k); err != nil {
			return err
		}
	}
	return nil
}
