package train

import (
	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// replicaStatistics has separate statistics for each replica. A rule merges them whenever the model is used.
type replicaStatistics struct {
	replicas *bn.Replicas
	rule     bn.Rule
}

func (r *replicaStatistics) Live() (map[string]tensor.Tensor, error) {
	return r.replicas.Merged(r.rule)
}
func (r *replicaStatistics) Final() (map[string]tensor.Tensor, error) {
	return r.replicas.Merged(r.rule)
}

// next also checks that float32 can hold the merged statistics.
func (r *replicaStatistics) next(moments []tensor.Tensor) (running, error) {
	next, err := r.replicas.Next(moments)
	if err != nil {
		return nil, err
	}
	_, err = next.Merged(r.rule)
	return &replicaStatistics{next, r.rule}, err
}

func (r *replicaStatistics) pack(prefix string, k *serialize.Checkpoint) error {
	for i, one := range r.replicas.PerReplica {
		packSet(one, prefix+serialize.ReplicaSet(i), k)
	}
	return nil
}

func (r *replicaStatistics) restore(prefix string, k *serialize.Checkpoint) error {
	for i, one := range r.replicas.PerReplica {
		if err := restoreSet(one, prefix+serialize.ReplicaSet(i), k); err != nil {
			return err
		}
	}
	return nil
}
