// Package mailbox queues messages from their arrival until they are received.
//
// Use it to implement a fabric: messages that no call of Receive waits for are
// kept in a Box.
package mailbox

import "sync"

// Box is an unbounded queue of messages. Any goroutine may call Put, but only one
// goroutine at a time may call Take.
type Box[M any] struct {
	mu       sync.Mutex
	messages []M
	arrived  chan struct{} // contains an element if there may be messages
}

// New returns an empty box.
func New[M any]() *Box[M] { return &Box[M]{arrived: make(chan struct{}, 1)} }

// Put adds a message at the end. From then on the box owns the message.
func (b *Box[M]) Put(message M) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, message)
	select {
	case b.arrived <- struct{}{}:
	default:
	}
}

// Take removes and returns the first message, if there is one.
func (b *Box[M]) Take() (message M, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.messages) == 0 {
		return message, false
	}
	message = b.messages[0]
	b.messages[0] = *new(M)
	b.messages = b.messages[1:]
	return message, true
}

// Arrived returns a channel that has an element if messages may have arrived since the last
// unsuccessful Take.
func (b *Box[M]) Arrived() <-chan struct{} { return b.arrived }
