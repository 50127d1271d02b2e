package cpu

import (
	"context"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// Every set of kernels of this machine keeps the contract.
func TestConformance(t *testing.T) {
	for _, set := range kernel.Sets() {
		t.Run(set.Name, func(t *testing.T) {
			devicetest.Run(t, func(ctx context.Context, precision string) (device.Device, error) {
				return Provider{}.Open(ctx, device.DefaultID,
					device.Options{Kernels: set.Name, Threads: 2, Precision: precision})
			})
		})
	}
}
