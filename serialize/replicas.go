package serialize

import (
	"fmt"
	"maps"
	"strings"

	"github.com/bnctl/bnctl/bn"
)

// SetRunning names the set with the running statistics of a run, and how
// often each was updated. Those of the state are what a template made now has.
const SetRunning = "running"

const ofReplica = "replica_"

// SetOfReplica names the set of running statistics that replica r keeps for itself.
func SetOfReplica(r int) string { return fmt.Sprint(ofReplica, r) }

// IsOfReplica reports whether a name is one that SetOfReplica makes.
func IsOfReplica(set string) bool { return strings.HasPrefix(set, ofReplica) }

const ofWeights = "weights_"

// SetOfWeights names the set of weights, averages and optimizer tensors that
// replica r has for itself between two averages. The state of the checkpoint
// has their average.
func SetOfWeights(r int) string { return fmt.Sprint(ofWeights, r) }

// IsOfWeights reports whether a name is one that SetOfWeights makes.
func IsOfWeights(set string) bool { return strings.HasPrefix(set, ofWeights) }

// MergeReplicas returns c with running statistics made by rule of those that
// its replicas keep for themselves. It is an error if they keep none: all
// other runs have merged what the replicas saw already. c stays as it is.
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
