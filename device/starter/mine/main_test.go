package main

import (
	"context"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
)

// TestConforms judges the device that plugin init gives an author.
func TestConforms(t *testing.T) {
	devicetest.Run(t, func(ctx context.Context, precision string) (device.Device, error) {
		return provider.Open(ctx, device.DefaultID, device.Options{Precision: precision})
	})
}
