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
	loaded []*Executable

	mu     sync.Mutex      // held by the call under way
	open   context.Context // ends when the device is closed
	cancel context.CancelFunc
	once   sync.Once // closes the driver
}

// Describe adds to what is known of a device what it can do.
func Describe(info device.Info) device.Info {
	info.Kernels = class.FMA
	info.Ops = ops()
	info.Features = []string{device.Deterministic, device.ExactUpdates, device.FiniteUpdates, device.Profile}
	info.Levels = []string{device.InProcess}
	info.Precisions = []string{device.F32}
	return info
}

// Refuse says why a device cannot be opened with these options; nil if it can.
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

// New returns the device that a driver drives. info says what it is; what it
// can do is added.
func New(info device.Info, driver Driver) *Device {
	d := &Device{info: Describe(info), driver: driver}
	d.open, d.cancel = context.WithCancel(context.Background())
	return d
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

// begin starts a call. end is to be called after it.
func (d *Device) begin(ctx context.Context, call string) (end func(), err error) {
	d.mu.Lock()
	switch {
	case d.open.Err() != nil:
		err = d.fail(call, device.Invalid, "the device is closed")
	case ctx.Err() != nil:
		err = d.fail(call, device.Canceled, "%w", ctx.Err())
	}
	if err != nil {
		d.mu.Unlock()
		return nil, err
	}
	return d.mu.Unlock, nil
}

// whileOpen returns a context that ends with ctx and with the device: a run that waits
// for other members goes on no longer than either. done is to be called after it.
func (d *Device) whileOpen(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(d.open, cancel)
	return ctx, func() { stop(); cancel() }
}

// Info describes the device.
func (d *Device) Info() device.Info { return d.info }

// Load lowers p to launches.
func (d *Device) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	end, err := d.begin(ctx, "Load")
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
	end, err := d.begin(ctx, "Join")
	if err != nil {
		return err
	}
	defer end()
	if err := g.CheckExchange(); err != nil {
		return d.fail("Join", device.Invalid, "%w", err)
	}
	d.group = &g
	return nil
}

// Close ends the call under way and frees the device and its executables.
func (d *Device) Close() error {
	d.cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range slices.Clone(d.loaded) {
		e.free()
	}
	d.loaded = nil
	var err error
	d.once.Do(func() { err = d.driver.Close() })
	return err
}

// fail returns an error of this device.
func (d *Device) fail(call string, k device.Kind, format string, args ...any) error {
	return device.Errorf(d.info.Name, call, k, format, args...)
}
