package remote_test

import (
	"context"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
)

// TestConformance judges the CPU device over the wire, at each level.
func TestConformance(t *testing.T) {
	for _, level := range levels {
		if testing.Short() && level != device.Shm {
			continue // the messages are the same
		}
		t.Run(level, func(t *testing.T) {
			p := start(t, "cpu", level)
			devicetest.Run(t, func(ctx context.Context) (device.Device, error) {
				return p.Open(ctx, device.DefaultID, device.Options{})
			})
		})
	}
}
