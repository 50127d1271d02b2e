package serve_test

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/serve"
)

// provider has one device, which computes like the reference device.
type provider struct{}

func (provider) Describe() device.Plugin {
	return device.Plugin{Name: "mine", Version: "0.1", About: "an example"}
}

func (provider) List(context.Context) (devices []device.Info, reason string, err error) {
	return []device.Info{{ID: "0", Name: "mine", Description: "somebody else's loops"}}, "", nil
}

func (provider) Open(_ context.Context, id string, _ device.Options) (device.Device, error) {
	return ref.New("mine"), nil
}

// This is the main function of the plugin bnctl-device-mine.
func ExampleMain() {
	serve.Main(provider{})
}
