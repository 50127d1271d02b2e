package serialize

import (
	"fmt"
	"maps"
	"strings"

	"github.com/bnctl/bnctl/bn"
)

// SetRunning is the name of the set that holds the running statistics of a run and how
// often each was updated. The state of the checkpoint holds the statistics that a
// template made of it has.
const SetRunning = "running"

const ofReplica = "replica_"

// SetOfReplica returns the name of the set of running statistics that replica r keeps
// for itself.
func SetOfReplica(r int) string { return fmt.Sprint(ofReplica, r) }

// IsOfReplica reports whether SetOfReplica returns this name for some replica.
func IsOfReplica(set string) bool { return strings.HasPrefix(set, ofReplica) }

const ofWeights = "weights_"

// SetOfWeights returns the name of the set of weights, averages and optimizer tensors
// of replica r, where replicas have their own (parallel.Periodic). The state of the
// checkpoint has their average.
func SetOfWeights(r int) string { return fmt.Sprint(ofWeights, r) }

// IsOfWeights reports whether SetOfWeights returns this name for some replica.
func IsOfWeights(set string) bool { return strings.HasPrefix(set, ofWeights) }

// MergeReplicas returns a copy of c whose running statistics are merged by rule from
// those of each replica. It is an error if c has no statistics by replica, as in runs
// that merge them during training. c does not change.
func MergeReplicas(c *Checkpoint, rule bn.Rule) (*Checkpoint, error) {
	layers, err := bn.Layers(c.Graph.Main)
	if err != nil {
		return nil, err
	}
	count := 0
	for c.Set(SetOfReplica(count)) != nil {
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
	for i, own := range r.Own {
		set := c.Set(SetOfReplica(i))
		if err := own.Restore(set.Tensors, set.Updates); err != nil {
			return nil, fmt.Errorf("merge %s: set %s: %w", c.Architecture, set.Name, err)
		}
	}
	merged := *c
	merged.State = maps.Clone(c.State)
	statistics, err := r.Merged(rule)
	if err != nil {
		return nil, fmt.Errorf("merge %s: %w", c.Architecture, err)
	}
	maps.Copy(merged.State, statistics)
	return &merged, nil
}
