package cpu

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Device is the CPU with a pool of workers.
type Device struct {
	machine run.Machine
	info    device.Info
	calls   *device.Calls
	loaded  []*Executable
}

// Info describes the device.
func (d *Device) Info() device.Info {
	info := d.info
	info.MemoryTotal, info.MemoryFree = memory.Machine()
	return info
}

// Load compiles p.
func (d *Device) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	_, done, err := d.calls.Begin(ctx, "Load")
	if err != nil {
		return nil, err
	}
	defer done()
	e, err := d.load(p, c)
	if err != nil {
		return nil, err
	}
	d.loaded = append(d.loaded, e)
	return e, nil
}

// Join makes the device a member of a group.
func (d *Device) Join(ctx context.Context, g device.Group) error {
	_, done, err := d.calls.Begin(ctx, "Join")
	if err != nil {
		return err
	}
	defer done()
	if err := g.CheckExchange(); err != nil {
		return d.fail("Join", device.Invalid, "%w", err)
	}
	d.machine.Group = &g
	return nil
}

// Close ends the call under way and frees the device and its executables.
func (d *Device) Close() error {
	d.calls.Close(func() {
		for _, e := range d.loaded {
			e.free()
		}
		d.loaded = nil
		if d.machine.Pool != nil {
			d.machine.Pool.Close()
			d.machine.Pool = nil
		}
	})
	return nil
}

// fail returns an error of this device.
func (d *Device) fail(call string, k device.Kind, format string, args ...any) error {
	return device.Errorf(d.info.Name, call, k, format, args...)
}

// wrap returns err as an error of this device, keeping its kind.
func (d *Device) wrap(call string, err error) error { return device.Wrap(d.info.Name, call, err) }

// checkMemory returns an error if that number of further bytes is not
// available.
func (d *Device) checkMemory(call string, want float64) error {
	_, free := memory.Machine()
	return device.CheckMemory(d.info.Name, call, want, free, "free")
}
