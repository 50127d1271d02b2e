package estimation_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation/estimation"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/parallel/spmd"
)

// The statistics of a new model are estimated from 32 samples, in batches of two replicas.
func Example() {
	ctx := context.Background()
	src, err := data.Open(ctx, "glyphs:32", data.Options{})
	must(err)
	defer src.Close()
	m, err := fit.Zoo("mlp-bn", src.Info(), models.Options{})
	must(err)
	must(models.Init(m, 1))
	wrapped, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: 2, BN: bn.Sync})
	must(err)
	layers, err := bn.Layers(wrapped.Main)
	must(err)
	f, err := fleet.Open(ctx, fleet.Options{Devices: "ref"})
	must(err)
	defer f.Close()
	d, err := estimation.Open(ctx, m, wrapped, f.Members, 16, 2)
	must(err)
	defer d.Close()
	l, err := data.NewLoader(ctx, src, data.Plan{Batch: 16, Epochs: 1, Transform: fit.Transform(m, src.Info())})
	must(err)
	defer l.Close()
	statistics, samples, err := estimation.Reestimate(ctx, d, l, estimation.Reestimation{Layers: layers,
		Input: m.Graph.Main.Values[m.Graph.Main.Inputs[0]].Name, Batch: 16, Replicas: 2, Samples: 32})
	must(err)
	fmt.Println(len(statistics) == 2*len(layers), samples)
	// Output: true 32
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
