package cuda

import (
	"context"
	"os"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
)

// TestConformance: the device keeps the contract, and the bits of the class that it
// claims. All cases take minutes on the machine: BNCTL_PTX=full runs them, make test
// one in twelve.
func TestConformance(t *testing.T) {
	some, all := devicetest.Cases(), os.Getenv("BNCTL_PTX") == "full"
	if !all {
		some = nil
		for i, c := range devicetest.Cases() {
			if i%12 == 0 {
				some = append(some, c)
			}
		}
	}
	p := onMachine(t)
	report, err := devicetest.JudgeSome(context.Background(), func(ctx context.Context, precision string) (
		device.Device, error) {
		return p.Open(ctx, "GPU-aaaa", device.Options{Precision: precision})
	}, some, func(r devicetest.Result) { t.Logf("%v %s", r.Took, r.Case.Name) })
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Failed() {
		t.Errorf("%s: %v", r.Case.Name, r.Err)
	}
	if lacks := report.Lacks(); len(lacks) > 0 {
		t.Errorf("it refuses %v", lacks)
	}
}
