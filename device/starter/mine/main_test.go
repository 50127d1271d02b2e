package main

import (
	"context"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/graph"
)

// TestConforms judges the device that plugin init gives an author: the contract, and the operation
// that it computes itself. It has the other operations from package ref, and the tests of ref judge them.
func TestConforms(t *testing.T) {
	cases := slices.DeleteFunc(devicetest.Cases(), func(c devicetest.Case) bool {
		return len(c.Ops) == 1 && c.Ops[0] != graph.Relu
	})
	devicetest.RunSome(t, func(ctx context.Context, precision string) (device.Device, error) {
		return provider.Open(ctx, device.DefaultID, device.Options{Precision: precision})
	}, nil, cases)
}
