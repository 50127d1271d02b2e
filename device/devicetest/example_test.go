package devicetest_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
)

// JudgeSome judges a device that lacks an operation. A case with the operation checks that Load
// refuses it as the contract requires, and the report names it.
func ExampleJudgeSome() {
	open := func(_ context.Context, precision string) (device.Device, error) {
		d := ref.New("ref", graph.HardSwish)
		return d, d.Info().CheckPrecision(precision)
	}
	cases := slices.DeleteFunc(devicetest.Cases(), func(c devicetest.Case) bool {
		return !slices.Contains(c.Ops, graph.HardSwish)
	})
	report, err := devicetest.JudgeSome(context.Background(), open, cases, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range report.Failed() {
		fmt.Println(r.Case.Name, r.Err)
	}
	fmt.Println("lacks", report.Lacks())
	// Output: lacks [hard_swish]
}
