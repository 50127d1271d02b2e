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
	canceled uint64 // the highest call that Cancel has named
}

// begin returns the context of call number n and what to do after it.
func (c *calls) begin(ctx context.Context, n uint64) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number, c.end = n, end
	if c.canceled >= n { // Cancel has overtaken the call
		end()
	}
	return ctx, end
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

// current returns the number of the call in progress.
func (c *calls) current() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.number
}
