package remote

import "sync"

// receiveOrder has calls receive one after the other, in the order in which they were sent.
type receiveOrder struct {
	mu   sync.Mutex
	last chan struct{} // closed when the call that took the last turn is over; nil: there was none
}

// take takes the next turn. It has come when before is closed; done ends it.
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

// busy reports whether a call is under way.
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

// loss is why a device is lost, once it is.
type loss struct {
	mu  sync.Mutex
	why error
}

// err returns why the device is lost; nil: it is not.
func (f *loss) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.why
}

// record says why the device is lost, if nobody has, and returns what was said first.
func (f *loss) record(why error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.why == nil {
		f.why = why
	}
	return f.why
}
