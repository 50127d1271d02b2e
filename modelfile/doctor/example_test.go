package doctor_test

import (
	"context"
	"fmt"
	"math"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/doctor"
	"github.com/bnctl/bnctl/models"
)

// A variance that is not a number is repaired with the data of the model.
func ExampleRepair() {
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range m.Graph.State {
		if s.Role == graph.Variance {
			m.State[s.Name].F32()[0] = float32(math.NaN())
			break
		}
	}
	sick := doctor.Diagnose(m)
	word, _ := sick.Health()
	fmt.Println(word)
	o := doctor.RepairOptions{Data: "glyphs:32", EstimateOptions: doctor.EstimateOptions{
		Fleet: fleet.Options{Devices: "ref"}, Batch: 16, Samples: 32}}
	r, err := doctor.Repair(context.Background(), m, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	mended := doctor.Diagnose(r.Model)
	fmt.Println(len(mended.Faults()), "after", r.Samples, "samples")
	// Output:
	// sick
	// 0 after 32 samples
}
