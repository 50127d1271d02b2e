package bench_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/bench"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
)

// Measure how fast a network trains on a device. A program that uses CPU devices must first call fleet.Serve
// in main.
func ExampleRun() {
	m, err := models.Build("mlp-bn", models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := models.Init(m, 0); err != nil {
		log.Fatal(err)
	}
	o := bench.Options{Mode: bench.Train, Batch: 16, Replicas: 2, Seconds: 0.1,
		Fleet: fleet.Options{Devices: "ref"}}
	err = bench.Run(context.Background(), m, o, func(r *bench.Row) error {
		fmt.Println(r.Model, "on", r.Device, r.Throughput > 0, r.P50 <= r.P99)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: mlp-bn on ref true true
}
