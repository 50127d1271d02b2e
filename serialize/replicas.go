package serialize

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/bn"
)

// SetRunning is the name of the set that holds the running statistics of a run and how
// often each was updated. The state of the checkpoint has the statistics of its template
// instead.
const SetRunning = "running"

const replicaPrefix = "replica_"

// ReplicaSet returns the name of the set of running statistics of replica r.
func ReplicaSet(r int) string { return fmt.Sprint(replicaPrefix, r) }

// IsReplicaSet reports whether ReplicaSet returns this name for some replica.
func IsReplicaSet(set string) bool { return strings.HasPrefix(set, replicaPrefix) }

const weightsPrefix = "weights_"

// WeightSet returns the name of the set of weights, averages and optimizer tensors of replica r,
// for runs with weights per replica (weightsync.LocalSGD). The state of the checkpoint has their
// average.
func WeightSet(r int) string { return fmt.Sprint(weightsPrefix, r) }

// IsWeightSet reports whether WeightSet returns this name for some replica.
func IsWeightSet(set string) bool { return strings.HasPrefix(set, weightsPrefix) }

// MergeReplicas returns a copy of c with the running statistics of its replicas merged by rule. It
// returns an error if c has no statistics per replica, as in runs that merge them during training.
// c does not change.
func MergeReplicas(c *Checkpoint, rule bn.Rule) (*Checkpoint, error) {
	layers, err := bn.Layers(c.Graph.Main)
	if err != nil {
		return nil, err
	}
	count := 0
	for c.Set(ReplicaSet(count)) != nil {
		count++
	}
	if count == 0 {
		return nil, fmt.Errorf("merge %s: its replicas keep no statistics of their own; "+
			"only a run of bn-update posthoc, whose replicas keep them to the end, has something to merge",
			c.Architecture)
	}
	r, err := bn.NewReplicas(layers, c.State, count)
	if err != nil {
		return nil, err
	}
	for i, s := range r.PerReplica {
		set := c.Set(ReplicaSet(i))
		if err := s.Restore(set.Tensors, set.Updates); err != nil {
			return nil, fmt.Errorf("merge %s: set %s: %w", c.Architecture, set.Name, err)
		}
	}
	merged := *c
	merged.State = maps.Clone(c.State)
	merged.Sets = slices.DeleteFunc(slices.Clone(c.Sets), func(s Set) bool { return s.Name == SetEstimated })
	statistics, err := r.Merged(rule)
	if err != nil {
		return nil, fmt.Errorf("merge %s: %w", c.Architecture, err)
	}
	maps.Copy(merged.State, statistics)
	return &merged, nil
}
