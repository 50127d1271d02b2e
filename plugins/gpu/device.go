package gpu

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// Device is one opened device. It implements device.Device.
type Device struct {
	info   device.Info
	driver Driver
	group  *device.Group // nil: this device holds all replicas
	calls  *device.Calls
	loaded []*Executable
	once   sync.Once // closes the driver
}

// Describe returns info with the abilities that this package gives a device:
// operations, features, precisions and kernel class.
func Describe(info device.Info) device.Info {
	info.Kernels = class.FMA
	info.Ops = ops()
	info.Features = []string{device.Deterministic, device.ExactUpdates, device.FiniteUpdates, device.Profile}
	info.Levels = []string{device.InProcess}
	info.Precisions = []string{device.F32}
	return info
}

// Refuse returns the error with which a device cannot be opened with these
// options; nil if it can.
func Refuse(o device.Options) error {
	switch {
	case o.Precision != "" && o.Precision != device.F32:
		return problem.Advise("use {precision} "+device.F32, "precision %s is computed by CPUs only, as its "+
			"flushing of subnormals cannot be said to a GPU", o.Precision)
	case o.Kernels != "" && o.Kernels != "auto" && o.Kernels != class.FMA:
		return fmt.Errorf("kernels %q run on CPUs only; this device has %s", o.Kernels, class.FMA)
	}
	return nil
}

// New returns the device of a driver. info describes the hardware; New adds its
// abilities (Describe).
func New(info device.Info, driver Driver) *Device {
	return &Device{info: Describe(info), driver: driver, calls: device.NewCalls(info.Name)}
}

// ops returns the operations that the device runs, by number.
func ops() []graph.Op {
	var all []graph.Op
	for op := range builders {
		all = append(all, op)
	}
	slices.Sort(all)
	return all
}

// Info describes the device.
func (d *Device) Info() device.Info { return d.info }

// Load lowers p to launches.
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
	d.group = &g
	return nil
}

// Close ends the call under way and frees the device and its executables.
func (d *Device) Close() (err error) {
	d.calls.Close(func() {
		for _, e := range slices.Clone(d.loaded) {
			e.free()
		}
		d.loaded = nil
		d.once.Do(func() { err = d.driver.Close() })
	})
	return err
}

// fail returns an error of this device.
func (d *Device) fail(call string, k device.Kind, format string, args ...any) error {
	return device.Errorf(d.info.Name, call, k, format, args...)
}

// wrap returns err as an error of this device, keeping its kind; nil stays nil.
func (d *Device) wrap(call string, err error) error { return device.Wrap(d.info.Name, call, err) }

// checkMemory returns an error if the device does not have that number of
// bytes.
func (d *Device) checkMemory(call string, want float64) error {
	return device.CheckMemory(d.info.Name, call, want, d.info.MemoryTotal, "in all")
}
