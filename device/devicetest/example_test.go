package devicetest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
)

// Judge a device that lacks an operation: its cases check that the operation is refused as
// the contract requires, and the report names it.
func ExampleJudge() {
	open := func(_ context.Context, precision string) (device.Device, error) {
		d := ref.New("ref", graph.HardSwish)
		return d, d.Info().CheckPrecision(precision)
	}
	report, err := devicetest.Judge(context.Background(), open, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range report.Failed() {
		fmt.Println(r.Case.Name, r.Err)
	}
	fmt.Println("lacks", report.Lacks())
	// Output: lacks [hard_swish]
}
