package serve

import (
	"context"
	"sync"
)

// calls tracks the session's call in progress, so that Cancel, which arrives outside of the
// session, can end it.
type calls struct {
	mu       sync.Mutex
	number   uint64
	end      context.CancelFunc
	canceled uint64    // highest number of a call that was canceled
	all      *allCalls // calls of all sessions of this process; nil if there is only one session
}

// begin returns the context of call number n, and a function that must be called once at its end.
func (c *calls) begin(ctx context.Context, n uint64) (context.Context, func()) {
	ctx, end := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number, c.end = n, end
	if c.canceled >= n { // Cancel arrived before the call
		end()
	}
	if c.all == nil {
		return ctx, end
	}
	c.all.number.Add(1)
	return ctx, func() {
		end()
		c.all.number.Add(-1)
	}
}

// cancel ends call number n if it is in progress or has not begun yet.
func (c *calls) cancel(n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.canceled = max(c.canceled, n)
	if c.end != nil && c.number <= c.canceled {
		c.end()
	}
}

// over reports whether the session must end now, after a call has been answered.
func (c *calls) over() bool { return c.all != nil && c.all.leaving.Load() }

// current returns the number of the call in progress.
func (c *calls) current() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.number
}
