// Package awake measures how long this process has run. While a process is stopped (Ctrl-Z, a frozen
// container, a paused virtual machine) it receives no answers, but the system's clock continues, so
// all time-outs have expired when the process resumes. Clocks and timers of this package do not count
// the time during which the process was stopped.
//
// Use it in place of time.AfterFunc and context.WithTimeout for time-outs after
// which a peer counts as dead.
package awake

import (
	"context"
	"sync"
	"time"
)

// A wait is divided into ticks. When a tick comes more than maxGapTicks ticks after the previous
// one, the process did not run in between, and the gap is not counted.
const (
	ticksPerWait = 20
	maxGapTicks  = 4
	minTick      = 10 * time.Millisecond // a busy machine delays ticks too
)

// tickOf returns the length of the ticks of a wait of d.
func tickOf(d time.Duration) time.Duration { return max(d/ticksPerWait, minTick) }

// now is the system's clock.
var now = time.Now

// Clock measures how long the process has run since Start. Its methods may be
// called from any goroutine.
type Clock struct {
	mu   sync.Mutex
	tick time.Duration
	last time.Time
	ran  time.Duration
}

// Start starts a clock for waits of d. Elapsed has to be called every Interval:
// a gap of several intervals between calls is not counted.
func Start(d time.Duration) *Clock { return &Clock{tick: tickOf(d), last: now()} }

// Interval returns the time between calls of Elapsed.
func (c *Clock) Interval() time.Duration { return c.tick }

// Elapsed returns how long the process has run.
func (c *Clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := now()
	if gap := t.Sub(c.last); gap <= maxGapTicks*c.tick {
		c.ran += gap
	}
	c.last = t
	return c.ran
}

// Timer calls a function once.
type Timer struct {
	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// AfterFunc calls f in a new goroutine when the process has run for d.
func AfterFunc(d time.Duration, f func()) *Timer {
	t, clock := &Timer{}, Start(d)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(min(d, clock.tick), func() {
		if t.expired(d, clock) {
			f()
		}
	})
	return t
}

// expired reports whether the process has run for d. If not, it sets the timer for the next tick.
func (t *Timer) expired(d time.Duration, c *Clock) (ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return false
	}
	left := d - c.Elapsed()
	if left > 0 {
		t.timer.Reset(min(left, c.tick))
		return false
	}
	t.stopped = true
	return true
}

// Stop prevents the call of the function, if it has not begun.
func (t *Timer) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	t.timer.Stop()
}

// WithTimeout returns a context that ends when the process has run for d, with
// the cause context.DeadlineExceeded. The context has no Deadline.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := AfterFunc(d, func() { cancel(context.DeadlineExceeded) })
	return ctx, func() {
		t.Stop()
		cancel(context.Canceled)
	}
}
