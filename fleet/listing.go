package fleet

import (
	"context"

	"github.com/bnctl/bnctl/device"
)

// Listed is a device of a plugin, or a plugin without one and the reason.
type Listed struct {
	Name   string // as Options.Devices takes it
	Plugin device.Plugin
	Device device.Info
	Reason string // why there is no device; "" if there is
}

// List returns the devices of a plugin, which it starts and ends. No device is
// opened. One that has none, or that cannot be started, is one Listed with the reason.
func (p Plugins) List(ctx context.Context, name string) []Listed {
	provider, err := p.Start(ctx, name)
	if err != nil {
		return []Listed{{Name: name, Plugin: device.Plugin{Name: name}, Reason: err.Error()}}
	}
	defer provider.Close()
	about := provider.Describe()
	list, reason, err := provider.List(ctx)
	if err != nil {
		reason = err.Error()
	}
	if len(list) == 0 {
		return []Listed{{Name: name, Plugin: about, Reason: reason}}
	}
	var all []Listed
	for i, d := range list {
		all = append(all, Listed{Name: ShortName(name, i, len(list)), Plugin: about, Device: d})
	}
	return all
}
