package devicetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// answersRule is the rule that a device breaks if it does not answer.
const answersRule = "Every call is answered, soon if it was cancelled: a device that keeps a call for long " +
	"is lost (docs/plugins.md)."

// callTimeout is the error of a call that exceeded the time limit for calls of cases and benchmarks.
type callTimeout struct {
	call  string
	limit time.Duration
	err   error // the error that the call finally returned
}

func (o *callTimeout) Error() string {
	return fmt.Sprintf("%s was not answered in %v: %v", o.call, o.limit, o.err)
}

// Unwrap returns the error of the call.
func (o *callTimeout) Unwrap() error { return o.err }

// Rule returns the rule that the device breaks.
func (o *callTimeout) Rule() string { return answersRule }

// sameRule is the rule that a device breaks if it cannot be opened although it was opened before.
const sameRule = "Every start of a plugin is as the first: it describes itself in the same way, and opens " +
	"the devices that it lists (docs/plugins.md)."

// openError is the error of a device that does not open.
type openError struct{ err error }

func (u *openError) Error() string { return u.err.Error() }

// Unwrap returns the error of the plugin, or of bnctl.
func (u *openError) Unwrap() error { return u.err }

// Rule returns the rule that the device breaks.
func (u *openError) Rule() string { return sameRule }

// clock has the time limit of calls. The limit is shorter once a device has hung.
type clock struct {
	limit    time.Duration
	timedOut atomic.Bool
}

// loads is the factor by which the time limit of Load is longer than the limit of other calls: a device
// may have to compile programs.
const loads = 4

// call calls f, and ends its context after the time limit.
func (k *clock) call(ctx context.Context, name string, times int, f func(context.Context) error) error {
	limit := time.Duration(times) * k.limit
	if k.timedOut.Load() {
		limit /= 3
	}
	within, cancel := withLimit(ctx, limit)
	defer cancel()
	err := f(within)
	if err == nil || ctx.Err() != nil || !errors.Is(context.Cause(within), context.DeadlineExceeded) {
		return err
	}
	k.timedOut.Store(true)
	return &callTimeout{name, limit, err}
}

// timely is a device with a time limit for calls.
type timely struct {
	device.Device
	clock *clock
}

// timely returns an opener of devices with calls that are bounded by k.
func (open Opener) timely(k *clock) Opener {
	return func(ctx context.Context, precision string) (device.Device, error) {
		d, err := open(ctx, precision)
		if errors.Is(err, device.Unavailable) {
			err = &openError{err}
		}
		if err != nil {
			return nil, err
		}
		return &timely{d, k}, nil
	}
}

func (d *timely) Load(ctx context.Context, p *graph.Program, c device.Capacity) (
	x device.Executable, err error) {
	err = d.clock.call(ctx, "Load", loads, func(ctx context.Context) (err error) {
		x, err = d.Device.Load(ctx, p, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &timelyExecutable{x, d.clock}, nil
}

func (d *timely) Join(ctx context.Context, g device.Group) error {
	return d.clock.call(ctx, "Join", 1, func(ctx context.Context) error { return d.Device.Join(ctx, g) })
}

type timelyExecutable struct {
	device.Executable
	clock *clock
}

func (x *timelyExecutable) Grow(ctx context.Context, c device.Capacity) error {
	return x.clock.call(ctx, "Grow", loads, func(ctx context.Context) error { return x.Executable.Grow(ctx, c) })
}

func (x *timelyExecutable) Write(ctx context.Context, name string, t tensor.Tensor) error {
	return x.clock.call(ctx, "Write "+name, 1, func(ctx context.Context) error {
		return x.Executable.Write(ctx, name, t)
	})
}

func (x *timelyExecutable) WriteAll(ctx context.Context, names []string,
	state map[string]tensor.Tensor) error {
	return x.clock.call(ctx, "Write", 1, func(ctx context.Context) error {
		return x.Executable.WriteAll(ctx, names, state)
	})
}

func (x *timelyExecutable) Read(ctx context.Context, name string) (t tensor.Tensor, err error) {
	err = x.clock.call(ctx, "Read "+name, 1, func(ctx context.Context) (err error) {
		t, err = x.Executable.Read(ctx, name)
		return err
	})
	return t, err
}

func (x *timelyExecutable) Run(ctx context.Context, s device.Step) (o device.Outcome, err error) {
	err = x.clock.call(ctx, "Run "+s.Function, 1, func(ctx context.Context) (err error) {
		o, err = x.Executable.Run(ctx, s)
		return err
	})
	return o, err
}

func (x *timelyExecutable) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	return x.clock.call(ctx, "Commit", 1, func(ctx context.Context) error {
		return x.Executable.Commit(ctx, v, h)
	})
}
