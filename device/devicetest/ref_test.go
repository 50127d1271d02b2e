package devicetest_test

import (
	"context"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/ref"
)

func open(ctx context.Context, precision string) (device.Device, error) {
	return ref.Provider{}.Open(ctx, device.DefaultID, device.Options{Precision: precision})
}

func TestRef(t *testing.T) { devicetest.Run(t, open) }
