package cpu

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// Every set of kernels of this machine keeps the contract. Sets of one class have the same bits
// (TestOpsAgainstRef, TestTrainSameBits, the tests of package kernel), so that one of each class is judged, and
// how rows are dealt is judged of the set that users get: all of all sets with BNCTL_CONFORMANCE=all, as
// make check has it.
func TestConformance(t *testing.T) {
	all := os.Getenv("BNCTL_CONFORMANCE") == "all"
	first, err := kernel.Pick("auto", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range kernel.Sets() {
		cases := devicetest.Cases()
		switch {
		case all || set == first:
		case set.Class == first.Class:
			continue
		default:
			cases = slices.DeleteFunc(cases, func(c devicetest.Case) bool {
				return strings.HasPrefix(c.Name, "rows: ")
			})
		}
		t.Run(set.Name, func(t *testing.T) {
			devicetest.RunSome(t, func(ctx context.Context, precision string) (device.Device, error) {
				return Provider{}.Open(ctx, device.DefaultID,
					device.Options{Kernels: set.Name, Threads: 2, Precision: precision})
			}, nil, cases)
		})
	}
}
