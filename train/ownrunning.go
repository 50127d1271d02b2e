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

func (r *ownRunning) Live() map[string]tensor.Tensor  { return r.Merged(r.rule) }
func (r *ownRunning) Final() map[string]tensor.Tensor { return r.Merged(r.rule) }

func (r *ownRunning) pack(prefix string, k *serialize.Checkpoint) error {
	for i, own := range r.Own {
		packSet(own, prefix+serialize.SetOfReplica(i), k)
	}
	return nil
}

func (r *ownRunning) restore(prefix string, k *serialize.Checkpoint) error {
	for i, own := range r.Own {
		if err := restoreSet(own, prefix+serialize.SetOfReplica(i), k); err != nil {
			return err
		}
	}
	return nil
}
