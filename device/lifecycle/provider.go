package lifecycle

import (
	"context"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/device"
)

// Provider provides one device. It implements device.Provider for a plugin with a device
// that is always present.
type Provider struct {
	Plugin device.Plugin // how the plugin describes itself
	Info   device.Info   // description of the device; ID, Name and Levels are set here

	// Start starts the device. The options fit Info: the kernel class is Info.Kernels, and the
	// precision is one of Info.Precisions.
	Start func(ctx context.Context, o device.Options) (Backend, error)
}

// Describe implements device.Provider.
func (p Provider) Describe() device.Plugin { return p.Plugin }

// List implements device.Provider.
func (p Provider) List(context.Context) ([]device.Info, string, error) {
	return []device.Info{p.info()}, "", nil
}

func (p Provider) info() device.Info {
	i := p.Info
	i.ID, i.Name, i.Levels = device.DefaultID, p.Plugin.Name, []string{device.InProcess}
	return i
}

// Open implements device.Provider.
func (p Provider) Open(ctx context.Context, id string, o device.Options) (device.Device, error) {
	const call = "Open"
	name, kernels := p.Plugin.Name, p.Info.Kernels
	if id != device.DefaultID {
		return nil, device.Errorf(name, call, device.Unavailable, "no device %q; the only one is %q", id,
			device.DefaultID)
	}
	if o.Kernels != "" && o.Kernels != "auto" && o.Kernels != kernels {
		return nil, device.Errorf(name, call, device.Unsupported, "kernel class %q; this device has %s only",
			o.Kernels, kernels)
	}
	precision, err := device.ParsePrecision(o.Precision)
	if err == nil && !p.Info.Computes(precision) {
		err = fmt.Errorf("precision %s; this device has %s only", precision, strings.Join(p.Info.Precisions, ", "))
	}
	if err != nil {
		return nil, device.Errorf(name, call, device.Unsupported, "%w", err)
	}
	o.Kernels, o.Precision = kernels, precision
	b, err := p.Start(ctx, o)
	if err != nil {
		return nil, device.Wrap(name, call, err)
	}
	return New(p.info, b), nil
}
