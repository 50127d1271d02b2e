package remote

import "sync"

// turns has calls receive one after the other, in the order in which they were sent.
type turns struct {
	mu   sync.Mutex
	last chan struct{} // closed when the call that took the last turn is over; nil: there was none
}

// take takes the next turn. It has come when before is closed; done ends it.
func (t *turns) take() (before <-chan struct{}, done func()) {
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

// busy reports whether a call is under way.
func (t *turns) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.last:
		return false
	default:
		return t.last != nil
	}
}

// fate is why a device is lost, once it is.
type fate struct {
	mu  sync.Mutex
	why error
}

// err returns why the device is lost; nil: it is not.
func (f *fate) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.why
}

// seal says why the device is lost, if nobody has, and returns what was said first.
func (f *fate) seal(why error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.why == nil {
		f.why = why
	}
	return f.why
}
