package lifecycle

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// Device is an open device. It implements device.Device.
type Device struct {
	info    func() device.Info
	name    string
	backend Backend
	calls   *calls
	group   *device.Group // nil: this device holds all replicas
	loaded  []*Executable // executables that are open
	closed  bool
}

// New returns a device that runs on a Backend. Its Info method calls info, and its errors
// use the name in the result.
func New(info func() device.Info, b Backend) *Device {
	name := info().Name
	return &Device{info: info, name: name, backend: b, calls: newCalls(name)}
}

// Info implements device.Device.
func (d *Device) Info() device.Info { return d.info() }

// Backend returns the Backend of the device.
func (d *Device) Backend() Backend { return d.backend }

// Load implements device.Device.
func (d *Device) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	const call = "Load"
	_, done, err := d.calls.begin(ctx, call)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := device.CheckProgram(d.name, p); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, d.invalid(call, err)
	}
	runnable, r, err := d.load(p, c)
	if err != nil {
		if refused := new(device.Refused); errors.As(err, &refused) {
			return nil, device.Errorf(d.name, call, device.Unsupported, "%w", err)
		}
		return nil, device.Wrap(d.name, call, err)
	}
	x := newExecutable(d, p, runnable, r, c)
	d.loaded = append(d.loaded, x)
	return x, nil
}

// load returns the Runner of a program, and the form of the program that the Runner has loaded.
func (d *Device) load(p *graph.Program, c device.Capacity) (*graph.Program, Runner, error) {
	if b, ok := d.backend.(SlotBackend); ok && p.Staged() {
		runnable := runnable(p, true)
		r, err := b.LoadStage(runnable, c)
		return runnable, r, err
	}
	runnable := runnable(p, false)
	r, err := d.backend.Load(runnable, c)
	return runnable, r, err
}

// Join implements device.Device.
func (d *Device) Join(ctx context.Context, g device.Group) error {
	const call = "Join"
	_, done, err := d.calls.begin(ctx, call)
	if err != nil {
		return err
	}
	defer done()
	if err := g.CheckExchange(); err != nil {
		return d.invalid(call, err)
	}
	d.group = &g
	for _, x := range d.loaded {
		if x.stage != nil {
			x.stage.forget()
		}
	}
	return nil
}

// Close implements device.Device: it ends the call in progress.
func (d *Device) Close() (err error) {
	d.calls.close(func() {
		for _, x := range slices.Clone(d.loaded) {
			x.free()
		}
		if c, ok := d.backend.(io.Closer); ok && !d.closed {
			err = c.Close()
		}
		d.closed = true
	})
	return err
}

// invalid returns an error of kind Invalid.
func (d *Device) invalid(call string, err error) error {
	return device.Errorf(d.name, call, device.Invalid, "%w", err)
}
