package device

import (
	"context"
	"sync"
)

// Calls makes the calls of a device follow each other, as Device asks: one at a time,
// none after Close, which ends the one under way. A device in the host's process has one.
type Calls struct {
	device string
	mu     sync.Mutex      // held by the call under way
	open   context.Context // ends with the device
	end    context.CancelFunc
}

// NewCalls returns the calls of an open device. device is its name, for errors.
func NewCalls(device string) *Calls {
	c := &Calls{device: device}
	c.open, c.end = context.WithCancel(context.Background())
	return c
}

// Begin starts a call once no other is under way. It returns the context of the call,
// which ends with ctx and with the device; done is to be called after the call. An
// error wraps Invalid if the device is closed, Canceled if ctx has ended.
func (c *Calls) Begin(ctx context.Context, call string) (_ context.Context, done func(), err error) {
	c.mu.Lock()
	switch {
	case c.open.Err() != nil:
		err = Errorf(c.device, call, Invalid, "the device is closed")
	case ctx.Err() != nil:
		err = Errorf(c.device, call, Canceled, "%w", ctx.Err())
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

// Close ends the call under way, then runs free. Calls that come later are refused.
func (c *Calls) Close(free func()) {
	c.end()
	c.Between(free)
}

// Between runs f while no call is under way. It may be called after Close.
func (c *Calls) Between(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}
