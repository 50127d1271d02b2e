package serialize

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

// ofReplicas is tinyCheckpoint with statistics that each of two replicas keeps for itself.
func ofReplicas(t *testing.T) *Checkpoint {
	c := tinyCheckpoint(t)
	for r, mean := range []float32{1, 3} {
		c.Sets = append(c.Sets, Set{Name: ReplicaSet(r), Updates: []int64{4}, Tensors: map[string]tensor.Tensor{
			"bn1.running_mean": tensor.Of([]float32{mean, 0}, 2),
			"bn1.running_var":  tensor.Of([]float32{2, 1}, 2),
		}})
	}
	return c
}

// The statistics of replicas are merged into a copy. The pooled variance includes the variance of
// the means.
func TestMergeReplicas(t *testing.T) {
	c := ofReplicas(t)
	m, err := MergeReplicas(c, bn.Pooled)
	if err != nil {
		t.Fatal(err)
	}
	mean, variance := m.State["bn1.running_mean"].F32(), m.State["bn1.running_var"].F32()
	if mean[0] != 2 || mean[1] != 0 || variance[0] != 3 || variance[1] != 1 {
		t.Errorf("mean %v, variance %v, want [2 0], [3 1]", mean, variance)
	}
	for name, was := range ofReplicas(t).State {
		if !tensor.Equal(c.State[name], was) {
			t.Errorf("%s of the checkpoint was changed", name)
		}
	}
}

func TestMergeReplicasRefuses(t *testing.T) {
	for want, damage := range map[string]func(c *Checkpoint){
		"keep no statistics of their own": func(c *Checkpoint) { c.Sets = c.Sets[:2] },
		"set replica_1: ":                 func(c *Checkpoint) { delete(c.Sets[3].Tensors, "bn1.running_var") },
		"bn1.running_mean":                func(c *Checkpoint) { delete(c.State, "bn1.running_mean") },
		`unknown rule "sum"`:              func(*Checkpoint) {},
	} {
		c, rule := ofReplicas(t), bn.Pooled
		if damage(c); strings.Contains(want, "rule") {
			rule = "sum"
		}
		if m, err := MergeReplicas(c, rule); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want an error with %q", m, err, want)
		}
	}
}
