package cpu

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// openDivided opens a device that divides all work among many threads, more than most cases have rows.
// Without this, the images of the cases are too small to be divided.
func openDivided(ctx context.Context, o device.Options) (device.Device, error) {
	o.Threads = 5
	d, err := Provider{}.Open(ctx, device.DefaultID, o)
	if err == nil {
		s := &backendOf(d).machine.Schedule
		s.Piece, s.SmallPiece, s.Range = 1, 1, 1
	}
	return d, err
}

// TestConformance checks that every set of kernels of this machine keeps the contract. Sets of one class
// have the same bits (TestOpsAgainstRef, TestTrainSameBits, the tests of package kernel). Therefore make
// test runs all cases only with the set that users get. With the sets of other classes it omits the cases
// about dividing rows ("rows: ..."). With BNCTL_CONFORMANCE=rest, as in make check, the test runs the
// remaining cases.
func TestConformance(t *testing.T) {
	rest := os.Getenv("BNCTL_CONFORMANCE") == "rest"
	first, err := kernel.Pick("auto", false)
	if err != nil {
		t.Fatal(err)
	}
	isRow := func(c devicetest.Case) bool { return strings.HasPrefix(c.Name, "rows: ") }
	for _, set := range kernel.Sets() {
		var cases []devicetest.Case // cases that make test leaves out
		switch {
		case set == first:
		case set.Class == first.Class:
			cases = devicetest.Cases()
		default:
			cases = slices.DeleteFunc(devicetest.Cases(), func(c devicetest.Case) bool { return !isRow(c) })
		}
		if !rest {
			cases = slices.DeleteFunc(devicetest.Cases(), func(c devicetest.Case) bool {
				return slices.ContainsFunc(cases, func(left devicetest.Case) bool { return left.Name == c.Name })
			})
		}
		if len(cases) == 0 {
			continue
		}
		t.Run(set.Name, func(t *testing.T) {
			var opened atomic.Int32
			devicetest.RunSome(t, func(ctx context.Context, precision string) (device.Device, error) {
				o := device.Options{Kernels: set.Name, Threads: 2, Precision: precision}
				if opened.Add(1)%2 == 0 {
					return openDivided(ctx, o)
				}
				return Provider{}.Open(ctx, device.DefaultID, o)
			}, nil, cases)
		})
	}
}
