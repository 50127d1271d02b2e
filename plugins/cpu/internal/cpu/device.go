package cpu

import (
	"context"
	"sync"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/memory"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/problem"
)

// Device is the CPU with a pool of workers.
type Device struct {
	run.Machine
	info   device.Info
	loaded []*Executable

	mu     sync.Mutex      // held by the call under way
	open   context.Context // ends when the device is closed
	cancel context.CancelFunc
}

// begin starts a call, whose context ends with the device. end is to be
// called after it.
func (d *Device) begin(ctx context.Context, call string) (_ context.Context, end func(), err error) {
	d.mu.Lock()
	switch {
	case d.open.Err() != nil:
		err = d.fail(call, device.Invalid, "the device is closed")
	case ctx.Err() != nil:
		err = d.fail(call, device.Canceled, "%w", ctx.Err())
	}
	if err != nil {
		d.mu.Unlock()
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(d.open, cancel)
	return ctx, func() {
		stop()
		cancel()
		d.mu.Unlock()
	}, nil
}

// Info describes the device.
func (d *Device) Info() device.Info {
	info := d.info
	info.MemoryTotal, info.MemoryFree = memory.Machine()
	return info
}

// Load compiles p.
func (d *Device) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	_, end, err := d.begin(ctx, "Load")
	if err != nil {
		return nil, err
	}
	defer end()
	e, err := d.load(p, c)
	if err != nil {
		return nil, err
	}
	d.loaded = append(d.loaded, e)
	return e, nil
}

// Join makes the device a member of a group.
func (d *Device) Join(ctx context.Context, g device.Group) error {
	_, end, err := d.begin(ctx, "Join")
	if err != nil {
		return err
	}
	defer end()
	if err := g.CheckExchange(); err != nil {
		return d.fail("Join", device.Invalid, "%w", err)
	}
	d.Group = &g
	return nil
}

// Close ends the call under way and frees the device and its executables.
func (d *Device) Close() error {
	d.cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.loaded {
		e.free()
	}
	d.loaded = nil
	if d.Pool != nil {
		d.Pool.Close()
		d.Pool = nil
	}
	return nil
}

// fail returns an error of this device.
func (d *Device) fail(call string, k device.Kind, format string, args ...any) error {
	return device.Errorf(d.info.Name, call, k, format, args...)
}

// wrap returns err as an error of this device, keeping its kind.
func (d *Device) wrap(call string, err error) error { return device.Wrap(d.info.Name, call, err) }

// checkMemory reports whether so many bytes more can be had.
func (d *Device) checkMemory(call string, want float64) error {
	const mib = 1 << 20
	if _, free := memory.Machine(); free > 0 && want > float64(free) {
		return d.fail(call, device.OutOfMemory, "%w", problem.Advise("use a smaller batch",
			"want %.0f MiB, have %d MiB free", want/mib, free/mib))
	}
	return nil
}
