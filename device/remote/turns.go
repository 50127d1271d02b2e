package remote

import "sync"

// receiveOrder lets calls receive one after the other, in the order in which they were sent.
//
// Each call waits for the channel of the call before it, and closes its channel when it is done:
//
//	call 1   take ── sends ── receives ──── closes a
//	call 2        take ── sends ── waits for a ── receives ── closes b
//	call 3             take ── sends ── waits for b ──────────── receives
//
// A mutex would work for two calls, but not for three, because it does not guarantee which waiter is next.
type receiveOrder struct {
	mu   sync.Mutex
	last chan struct{} // closed when the call with the last turn has ended; nil: before the first call
}

// take reserves the next turn. The turn begins when before is closed; done ends it.
func (t *receiveOrder) take() (before <-chan struct{}, done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was, mine := t.last, make(chan struct{})
	if was == nil {
		was = make(chan struct{})
		close(was)
	}
	t.last = mine
	return was, func() { close(mine) }
}

// busy reports whether a call is in progress.
func (t *receiveOrder) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.last:
		return false
	default:
		return t.last != nil
	}
}

// loss records why a device is lost. The first reason is the true one, because closing the connection
// for this reason breaks all calls in progress.
type loss struct {
	mu  sync.Mutex
	why error
}

// err returns the reason why the device is lost, or nil if it is not lost.
func (f *loss) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.why
}

// record stores why the device is lost unless a reason is already stored, and returns the
// stored reason.
func (f *loss) record(why error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.why == nil {
		f.why = why
	}
	return f.why
}
