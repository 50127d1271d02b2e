package job_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/train"
	"github.com/bnctl/bnctl/train/job"
)

// A run whose model, data and devices have names. Between Prepare and Start it is
// known what will be trained, and nothing has begun.
func ExampleOpen() {
	ctx := context.Background()
	j, err := job.Open(ctx, job.Options{Model: "mlp-bn", Paths: train.Paths{Data: "glyphs:256"},
		Fleet: fleet.Options{Devices: "ref"}})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	if err := j.Prepare(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(j.Recipe.Model, "for", j.Recipe.TotalSteps(), "steps, from weights by", j.Recipe.Init)
	// Output: mlp-bn for 20 steps, from weights by seed
}
