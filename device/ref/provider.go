package ref

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
)

// Provider opens reference devices.
type Provider struct{}

// Describe implements device.Provider.
func (Provider) Describe() device.Plugin {
	return device.Plugin{Name: "ref", Version: "1", About: "the definition of every operation, in plain loops"}
}

// List implements device.Provider. It always returns one device.
func (Provider) List(context.Context) ([]device.Info, string, error) {
	return []device.Info{backend{name: "ref", ops: Ops(), precisions: device.Precisions()}.info()}, "", nil
}

// Open implements device.Provider. It ignores Options.Threads.
func (Provider) Open(_ context.Context, id string, o device.Options) (device.Device, error) {
	if id != device.DefaultID {
		return nil, device.Errorf("ref", "Open", device.Unavailable, "no device %q; the only one is %q", id,
			device.DefaultID)
	}
	if err := checkOptions(o); err != nil {
		return nil, device.Errorf("ref", "Open", device.Unsupported, "%w", err)
	}
	if o.Kernels == class.FMA {
		return backend{name: "ref", ops: Ops(), precisions: []string{device.F32}, class: class.FMA}.device(), nil
	}
	return backend{name: "ref", ops: Ops(), precisions: device.Precisions(),
		bf16: o.Precision == device.BF16}.device(), nil
}

func checkOptions(o device.Options) error {
	if o.Kernels != "" && o.Kernels != "auto" && o.Kernels != class.Ref && o.Kernels != class.FMA {
		return fmt.Errorf("kernel class %q; this device has %s and %s only", o.Kernels, class.Ref, class.FMA)
	}
	precision, err := device.ParsePrecision(o.Precision)
	if err == nil && o.Kernels == class.FMA && precision != device.F32 {
		err = fmt.Errorf("class %s is defined at precision %s, not at %s", class.FMA, device.F32, precision)
	}
	return err
}
