package lifecycle

import (
	"context"
	"sync"

	"github.com/bnctl/bnctl/device"
)

// calls serialises the calls of a device, as device.Device requires. Only one call runs at a
// time. Close ends the call in progress, and no call runs after Close.
type calls struct {
	device string
	mu     sync.Mutex      // held by the call in progress
	open   context.Context // ends with the device
	end    context.CancelFunc
}

// newCalls returns the calls of an open device. device is its name, for errors.
func newCalls(device string) *calls {
	c := &calls{device: device}
	c.open, c.end = context.WithCancel(context.Background())
	return c
}

// begin waits until no other call is in progress, and starts a call. It returns the context of
// the call, which ends with ctx or with the device. The caller must call done after the call.
// The error wraps device.Invalid if the device is closed, and device.Canceled if ctx has ended.
func (c *calls) begin(ctx context.Context, call string) (_ context.Context, done func(), err error) {
	c.mu.Lock()
	switch {
	case c.open.Err() != nil:
		err = device.Errorf(c.device, call, device.Invalid, "the device is closed")
	case ctx.Err() != nil:
		err = device.Errorf(c.device, call, device.Canceled, "%w", ctx.Err())
	}
	if err != nil {
		c.mu.Unlock()
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.open, cancel)
	return ctx, func() {
		stop()
		cancel()
		c.mu.Unlock()
	}, nil
}

// close ends the call in progress, then runs free. Later calls are rejected.
func (c *calls) close(free func()) {
	c.end()
	c.between(free)
}

// between runs f while no call is in progress. It may be called after Close.
func (c *calls) between(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}
