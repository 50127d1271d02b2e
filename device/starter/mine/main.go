// Command bnctl-device-mine is a device plugin to start from: it computes
// everything as the reference does, in plain loops, and so it is right from the
// beginning. Make it fast from there: give gadget methods of its own, which take
// the programs that it has kernels for and leave others to the reference.
//
//	go build -o bnctl-device-mine . && bnctl plugin test ./bnctl-device-mine
//
// says after every change whether it still is.
package main

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/serve"
)

// name is what --devices calls the device.
const name = "mine"

// kernels is the kernel class: devices of one class give the same bits (docs/classes.md). It
// is a class of this plugin's own, so a kernel of yours may sum in an order of its own.
const kernels = name

func main() { serve.Main(provider{}) }

// provider lists the devices of this machine and opens them.
type provider struct{}

// Describe implements device.Provider. It may touch no device.
func (provider) Describe() device.Plugin {
	return device.Plugin{Name: name, Version: "0.1", About: "a device to start from"}
}

// List implements device.Provider. It may create no context on a device; where
// there is none, reason says why.
func (provider) List(context.Context) (list []device.Info, reason string, err error) {
	g, err := open(device.Options{})
	if err != nil {
		return nil, "", err
	}
	defer g.Close()
	return []device.Info{g.Info()}, "", nil
}

// Open implements device.Provider. A process opens one device in its life.
func (provider) Open(_ context.Context, id string, o device.Options) (device.Device, error) {
	if id != device.DefaultID {
		return nil, device.Errorf(name, "Open", device.Unavailable, "no device %q; the only one is %q", id,
			device.DefaultID)
	}
	return open(o)
}

// gadget is the device. What it has no method for is done by the reference.
type gadget struct{ device.Device }

func open(o device.Options) (device.Device, error) {
	if o.Kernels == kernels {
		o.Kernels = ""
	}
	if o.Kernels != "" && o.Kernels != "auto" {
		return nil, device.Errorf(name, "Open", device.Unsupported, "kernel class %q; this device has %s only",
			o.Kernels, kernels)
	}
	d, err := ref.Provider{}.Open(context.Background(), device.DefaultID, o)
	if err != nil {
		return nil, err
	}
	return gadget{d}, nil
}

// Info implements device.Device: what the device is called, and what it can do.
func (g gadget) Info() device.Info {
	i := g.Device.Info()
	i.Name, i.Description, i.Kernels = name, "plain loops, float64 sums", kernels
	return i
}
