package experiment_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/study/experiment"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/recipe"
)

// The example trains with every way of batch norm, with one seed and one number of samples per replica, on
// glyphs. The function main must first call fleet.Serve.
func ExampleRun() {
	src, err := data.Open(context.Background(), "glyphs:32", data.Options{Split: data.Train})
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	m, err := fit.Zoo("mlp-bn", src.Info(), models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	r := recipe.Default(m.Architecture)
	r.Batch, r.Epochs, r.Data = 16, 1, recipe.Data{Samples: src.Info().Len}
	r.Validation = r.Data
	folder, err := os.MkdirTemp("", "study")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	found, err := experiment.Run(context.Background(), experiment.Options{Recipe: r, Model: m, Data: src,
		Validation: src, Fleet: fleet.Options{Devices: "cpu", Threads: 1}, Single: "cpu", Seeds: []uint64{1},
		PerReplica: []int{4}, Measure: []string{experiment.Training}, Precise: 32, SamplingSamples: 16,
		SpeedSteps: 1, Async: 4, Folder: folder})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range found.Runs {
		fmt.Println(r.Arm, "with", len(r.Scores), "sets of statistics")
	}
	// Output:
	// single with 1 sets of statistics
	// sync with 1 sets of statistics
	// replica with 6 sets of statistics
}
