package spmd_test

import (
	"fmt"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
)

// A wrapped graph has the replica connections that Strip removes again.
func ExampleWrap() {
	m, err := models.Build("mlp-bn", models.Options{Input: models.Size{Height: 2, Width: 2, Channels: 1},
		Classes: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	wrapped, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: 4, BN: bn.Sync})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range wrapped.Main.Nodes[:6] {
		fmt.Println(wrapped.Main.NodeName(&n), "=", n.Op)
	}
	// Output:
	// x.split = split
	// image = image
	// flat = reshape
	// fc1 = dense
	// bn1.moments = moments
	// bn1.merged = all_reduce
}
