package conformance

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// TestCoreOps checks that plugin test requires exactly the operations that lenet-bn needs.
func TestCoreOps(t *testing.T) {
	m, err := models.Build("lenet-bn", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: 8, BN: bn.Sync, Stats: bn.Pooled})
	if err != nil {
		t.Fatal(err)
	}
	trained, err := train.Trained(m.Graph, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := train.Program(&recipe.Recipe{Optimizer: "sgd"}, m.Graph, wrapped, trained)
	if err != nil {
		t.Fatal(err)
	}
	var ops []graph.Op
	for _, f := range p.Functions {
		for _, n := range f.Nodes {
			ops = append(ops, n.Op)
		}
	}
	slices.Sort(ops)
	ops = slices.Compact(ops)
	if want := slices.Sorted(slices.Values(coreOps)); !slices.Equal(ops, want) {
		t.Errorf("lenet-bn needs %v, coreOps are %v", ops, want)
	}
}
