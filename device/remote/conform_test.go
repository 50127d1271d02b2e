package remote_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/graph"
)

// TestConformance tests the CPU device in a plugin process at each level. It runs all cases of the
// contract, one case of each operation and a few cases of large batches. Networks with changing
// batches run only at the level with shared memory. The test is about the messages; plugins/cpu tests
// the results with all cases.
func TestConformance(t *testing.T) {
	for _, level := range levels {
		if level != device.Shm && testing.Short() {
			continue // the messages are the same at all levels
		}
		t.Run(level, func(t *testing.T) {
			p := start(t, "cpu", level)
			devicetest.RunSome(t, func(ctx context.Context, precision string) (device.Device, error) {
				return p.Open(ctx, device.DefaultID, device.Options{Precision: precision})
			}, nil, fewOfEach(devicetest.Cases(), level == device.Shm))
		})
	}
}

// fewOfEach returns the cases of the contract, the first case of each operation, of chains of operations
// and of classes, and the cases of three operations with many rows. growing includes a network with many
// rows, in replicas of 0, 1 and 2 rows. One kind of batch norm is enough for the messages.
func fewOfEach(cases []devicetest.Case, growing bool) []devicetest.Case {
	left := map[string]int{"class": 1, "chain": 1, "rows": 3}
	for _, o := range graph.Ops() {
		left[o.String()] = 1
	}
	return slices.DeleteFunc(cases, func(c devicetest.Case) bool {
		kind, of, _ := strings.Cut(c.Name, ":")
		grows := strings.HasPrefix(of, " batches ") && strings.HasSuffix(of, " replica")
		if _, ok := left[kind]; !ok || growing && grows {
			return false
		}
		left[kind]--
		return left[kind] < 0
	})
}

// TestGroupConformance tests groups of CPU devices that exchange data in shared memory.
func TestGroupConformance(t *testing.T) {
	if !slices.Contains(levels, device.Shm) {
		t.Skip("this system has no shared memory of this kind")
	}
	p := start(t, "cpu", device.Shm, device.CollShm)
	devicetest.RunSome(t, func(ctx context.Context, precision string) (device.Device, error) {
		return p.Open(ctx, device.DefaultID, device.Options{Threads: 1, Precision: precision})
	}, remote.Rendezvous{}, devicetest.GroupCases())
}
