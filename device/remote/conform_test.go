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

// TestConformance judges the CPU device over the wire at each level, with all cases of the
// contract, one of each operation and a few of large batches. Networks with changing batches run at
// the level with shared memory. The results are judged case by case in plugins/cpu; only the messages
// are new here.
func TestConformance(t *testing.T) {
	for _, level := range levels {
		if level != device.Shm && testing.Short() {
			continue // the messages are the same
		}
		t.Run(level, func(t *testing.T) {
			p := start(t, "cpu", level)
			devicetest.RunSome(t, func(ctx context.Context, precision string) (device.Device, error) {
				return p.Open(ctx, device.DefaultID, device.Options{Precision: precision})
			}, nil, fewOfEach(devicetest.Cases(), level == device.Shm))
		})
	}
}

// fewOfEach returns the cases of the contract, the first of each operation, of chains of operations
// and of classes, and three operations of many rows; growing includes a network of many rows, with
// replicas of none, one and two. Its batch norm makes no difference to messages.
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
