// Package mailbox keeps messages that have arrived until somebody receives them.
//
// Use it to write a fabric: what has no receiver yet waits in a Box.
package mailbox

import "sync"

// Box is messages in the order in which they came. Any goroutine may put them
// there; one at a time takes them.
type Box struct {
	mu       sync.Mutex
	messages [][]byte
	arrived  chan struct{} // holds something if there may be messages
}

// New returns an empty box.
func New() *Box { return &Box{arrived: make(chan struct{}, 1)} }

// Put puts a message behind the others. It is the box's from now on.
func (b *Box) Put(message []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, message)
	select {
	case b.arrived <- struct{}{}:
	default:
	}
}

// Take returns the first message, if there is one.
func (b *Box) Take() (message []byte, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.messages) == 0 {
		return nil, false
	}
	message = b.messages[0]
	b.messages[0] = nil
	b.messages = b.messages[1:]
	return message, true
}

// Arrived holds something when there may be messages that were not there at the
// last Take that found none.
func (b *Box) Arrived() <-chan struct{} { return b.arrived }
