package remote_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
)

// TestConformance judges the CPU device over the wire, at each level. Where memory
// is not shared, the cases of a class are left out: the definitions that they
// compare with take a minute, and the messages are those of other cases.
func TestConformance(t *testing.T) {
	for _, level := range levels {
		cases := devicetest.Cases()
		if level != device.Shm {
			if testing.Short() {
				continue // the messages are the same
			}
			cases = slices.DeleteFunc(cases, func(c devicetest.Case) bool {
				return strings.HasPrefix(c.Name, "class: ")
			})
		}
		t.Run(level, func(t *testing.T) {
			p := start(t, "cpu", level)
			devicetest.RunSome(t, func(ctx context.Context, precision string) (device.Device, error) {
				return p.Open(ctx, device.DefaultID, device.Options{Precision: precision})
			}, nil, cases)
		})
	}
}

// TestGroupConformance judges groups of CPU devices that meet in shared memory.
func TestGroupConformance(t *testing.T) {
	if !slices.Contains(levels, device.Shm) {
		t.Skip("this system has no shared memory of this kind")
	}
	p := start(t, "cpu", device.Shm, device.CollShm)
	devicetest.RunSome(t, func(ctx context.Context, precision string) (device.Device, error) {
		return p.Open(ctx, device.DefaultID, device.Options{Threads: 1, Precision: precision})
	}, remote.Rendezvous{}, devicetest.GroupCases())
}
