package devicetest_test

import (
	"context"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/ref"
)

func open(context.Context) (device.Device, error) { return ref.New("ref"), nil }

func TestRef(t *testing.T) { devicetest.Run(t, open) }
