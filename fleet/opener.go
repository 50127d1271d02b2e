package fleet

import (
	"context"
	"errors"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/problem"
)

// Opener opens one device any number of times, so that one or several at a time can be
// measured.
type Opener struct {
	fleet  *Fleet
	target target
}

// FindOne starts the plugin of the one device that o names, without opening the device. The
// caller closes the opener. The error is a *problem.Error if o names zero or several
// devices, a *problem.Unknown if it does not name a plugin, and otherwise the plugin's
// error.
func FindOne(ctx context.Context, o Options) (*Opener, error) {
	f, specs, err := prepare(o)
	if err != nil {
		return nil, err
	}
	targets, err := f.resolve(ctx, specs)
	if err == nil && len(targets) != 1 {
		err = problem.New("", "", o.Devices+" are "+problem.Plural(len(targets), "device"),
			"name one, for example "+specs[0].name+":0")
	}
	if err == nil {
		err = targets[0].info.CheckPrecision(f.device.Precision)
	}
	if err == nil {
		f.device.Threads, err = threadsFor(o.Threads, 1)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Opener{f, targets[0]}, nil
}

// Open opens the device once more, with that number of threads if it is a CPU. The caller
// closes it before the opener. The error is a *problem.Error if the device does not know
// the kernels, otherwise the device's error.
func (o *Opener) Open(ctx context.Context, threads int) (device.Device, error) {
	options := o.fleet.device
	options.Threads = threads
	d, err := o.fleet.providers[o.target.plugin].OpenAs(ctx, o.target.name, o.target.id, options)
	if errors.Is(err, device.Invalid) { // the device does not know the kernel class
		err = problem.Wrap("", err)
	}
	return d, err
}

// Precision returns the precision at which the devices are opened.
func (o *Opener) Precision() string { return o.fleet.device.Precision }

// Threads returns the threads of a CPU device that is opened alone.
func (o *Opener) Threads() int { return o.fleet.device.Threads }

// Close ends the plugin. Devices that it opened stay open: their caller closes
// them.
func (o *Opener) Close() error { return o.fleet.Close() }
