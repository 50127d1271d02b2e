package main

import (
	"context"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/graph"
)

// TestConforms tests the device that plugin init writes: the contract, and the operation that the device
// computes itself. The other operations are from package ref, and are tested there.
func TestConforms(t *testing.T) {
	cases := slices.DeleteFunc(devicetest.Cases(), func(c devicetest.Case) bool {
		return len(c.Ops) == 1 && c.Ops[0] != graph.Relu
	})
	devicetest.RunSome(t, func(ctx context.Context, precision string) (device.Device, error) {
		return provider.Open(ctx, device.DefaultID, device.Options{Precision: precision})
	}, nil, cases)
}
