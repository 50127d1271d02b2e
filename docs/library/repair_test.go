package library_test

import (
	"context"
	"fmt"
	"math"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/modelfile/doctor"
)

func Example_repair() {
	m := trained(bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:256"})
	m.State["bn1.running_var"].F32()[0] = float32(math.NaN()) // the result of an overflow

	sick := doctor.Diagnose(m)
	fmt.Println(sick.Faults())
	r, err := doctor.Repair(context.Background(), m, doctor.RepairOptions{Data: "glyphs:256",
		EstimateOptions: doctor.EstimateOptions{Batch: 64, Samples: 256}})
	check(err)
	mended := doctor.Diagnose(r.Model)
	fmt.Println(len(mended.Faults()), "faults after", r.Samples, "samples")
	// Output:
	// [bn1: the variance is not finite]
	// 0 faults after 256 samples
}
