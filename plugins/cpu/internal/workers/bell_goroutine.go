package workers

import (
	"sync"
	"sync/atomic"
)

// goroutineBell wakes sleeping workers. A sleeper is a goroutine that waits for a channel, so its
// thread runs other goroutines of the program meanwhile.
type goroutineBell struct {
	sleepers atomic.Int32 // workers that sleep or are about to
	mu       sync.Mutex
	rung     chan struct{} // closed when the bell is rung; nil if no worker sleeps
}

// ring wakes all sleepers. It costs nothing if there are none.
func (b *goroutineBell) ring() {
	if b.sleepers.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung != nil {
		close(b.rung)
		b.rung = nil
	}
}

// sleep returns when the bell rings. It returns immediately if done returns true, and sometimes it returns
// without a reason.
func (b *goroutineBell) sleep(done func() bool) {
	b.sleepers.Add(1)
	defer b.sleepers.Add(-1)
	b.mu.Lock()
	if b.rung == nil {
		b.rung = make(chan struct{})
	}
	rung := b.rung
	b.mu.Unlock()
	if !done() {
		<-rung
	}
}
