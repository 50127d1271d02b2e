package library_test

import (
	"fmt"
	"os"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/serialize"
)

func Example_statistics() {
	const checkpoint = "statistics.bnc"
	defer os.Remove(checkpoint)
	trained(bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:256", Checkpoint: checkpoint})

	k, err := serialize.ReadCheckpoint(checkpoint)
	check(err)
	m, removed, err := serialize.Strip(k)
	check(err)
	layers, err := bn.Layers(m.Graph.Main)
	check(err)
	for _, l := range layers {
		mean, variance := m.State[l.Mean].F32(), m.State[l.Variance].F32()
		fmt.Println(l.Name, "has", len(mean), "channels; all variances above 0:", least(variance) > 0)
	}
	fmt.Println(removed.Replicas, "replicas had made them")
	// Output:
	// bn1 has 256 channels; all variances above 0: true
	// bn2 has 128 channels; all variances above 0: true
	// 8 replicas had made them
}

func least(values []float32) float32 {
	v := values[0]
	for _, x := range values {
		v = min(v, x)
	}
	return v
}
