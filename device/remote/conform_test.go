package remote_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
)

// TestConformance judges the CPU device over the wire, at each level.
func TestConformance(t *testing.T) {
	for _, level := range levels {
		if testing.Short() && level != device.Shm {
			continue // the messages are the same
		}
		t.Run(level, func(t *testing.T) {
			p := start(t, "cpu", level)
			devicetest.Run(t, func(ctx context.Context, precision string) (device.Device, error) {
				return p.Open(ctx, device.DefaultID, device.Options{Precision: precision})
			})
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
