package shm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/device/collective"
)

// Member is a device's side of the segment of its group: a collective.Exchanger. The members combine
// their values without the host: each member combines one range of a large value.
type Member struct {
	rank     int
	head     *groupHead
	lanes    [collective.Lanes]*lane
	previous chan struct{} // closed when the earlier exchanges of gradients have ended
	segment  []byte
	closed   atomic.Bool
	inUse    sync.RWMutex // held for reading by exchanges
}

// Join maps the segment of a group at the path that the host's Group returned. replicas are the
// replicas of each member, by rank.
func Join(path string, generation uint64, rank int, replicas [][]int) (*Member, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("shared memory of the group: %w", err)
	}
	defer f.Close()
	segment, err := Map(f, groupBytes(len(replicas)))
	if err != nil {
		return nil, err
	}
	m := &Member{rank: rank, segment: segment, previous: make(chan struct{})}
	close(m.previous)
	head, lanes := layout(segment, len(replicas))
	m.head = head
	for i := range lanes {
		if m.lanes[i], err = newLane(m, collective.Lane(i), lanes[i], replicas); err != nil {
			break
		}
	}
	if err == nil {
		err = head.check(generation, len(replicas))
	}
	if err != nil {
		return nil, errors.Join(err, Unmap(segment))
	}
	return m, nil
}

// Start begins an exchange of moments at once. The goroutine that calls the returned function
// completes it. An exchange of gradients runs in another goroutine, after the earlier ones have ended.
func (m *Member) Start(ctx context.Context, tag collective.Tag, values []collective.Reduction) func() error {
	if tag.Lane >= collective.Lanes {
		return func() error {
			return fmt.Errorf("exchange %s in lane %d, there are %d", tag.Name, tag.Lane, collective.Lanes)
		}
	}
	l := m.lanes[tag.Lane]
	if tag.Lane == collective.Moments {
		x := m.begin(l, tag, values)
		return func() error { return m.end(ctx, l, x) }
	}
	before, done := m.previous, make(chan struct{})
	m.previous = done
	l.awake.Store(false)
	var err error
	go func() { // the returned function waits for this goroutine
		defer close(done)
		<-before
		err = m.end(ctx, l, m.begin(l, tag, values))
	}()
	return func() error {
		m.spinUntil(l, done)
		<-done
		return err
	}
}

// spinUntil is called when the run has nothing left to do except to wait for the exchange. Unless the
// exchange is done, spinUntil allows the lane to spin while it waits, and wakes it.
func (m *Member) spinUntil(l *lane, done <-chan struct{}) {
	select {
	case <-done:
	default:
		if !l.awake.Swap(true) {
			m.wake(l)
		}
	}
}

// begin starts an exchange. After an error the lane cannot be used any more.
func (m *Member) begin(l *lane, tag collective.Tag, values []collective.Reduction) (x *exchange) {
	m.inUse.RLock()
	defer m.inUse.RUnlock()
	if l.broken == nil && m.closed.Load() {
		l.broken = Closed
	}
	if l.broken == nil {
		x, l.broken = l.begin(tag, values)
	}
	return x
}

// end finishes an exchange that begin started.
func (m *Member) end(ctx context.Context, l *lane, x *exchange) error {
	m.inUse.RLock()
	defer m.inUse.RUnlock()
	if l.broken == nil && m.closed.Load() {
		l.broken = Closed
	}
	if l.broken == nil {
		l.broken = l.end(ctx, x)
	}
	return l.broken
}

// wait returns when all members have reached a barrier of a lane. If spinning is allowed, wait spins for
// some time before it sleeps.
func (m *Member) wait(ctx context.Context, l *lane, barrier uint64) error {
	if l.all(barrier) {
		return nil
	}
	waitPolicy, looked := WaitSleep, false
	if m.head.spin.Load() != 0 {
		waitPolicy = WaitSpin
	}
	poll := func() bool {
		if looked || waitPolicy != WaitSpin || !l.awake.Load() {
			return false
		}
		looked = true
		return l.poll(barrier)
	}
	if poll() {
		return nil
	}
	defer context.AfterFunc(ctx, func() { m.wake(l) })()
	for n := 0; ; n++ {
		seen := l.bell.count()
		switch {
		case m.head.aborted.Load() != 0:
			return collective.Aborted
		case l.all(barrier) || poll():
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case m.closed.Load():
			return Closed
		}
		l.bell.nap(seen, n, napOf(waitPolicy, n))
	}
}

// poll spins until all members have reached a barrier, and reports whether they have.
func (l *lane) poll(barrier uint64) bool {
	return poll(func() bool { return l.all(barrier) }, time.Now().Add(spinInGroup))
}

// wake wakes the members that sleep in a lane, including this one. It may be called after Close.
func (m *Member) wake(l *lane) {
	m.inUse.RLock()
	defer m.inUse.RUnlock()
	if !m.closed.Load() {
		l.bell.ring()
	}
}

// spinInGroup is the time that a member spins while it waits for others. The delay between members is
// rarely longer if every thread has a core for itself.
const spinInGroup = 2 * time.Millisecond

// Close ends exchanges in progress and unmaps the segment. Closing twice is legal.
func (m *Member) Close() error {
	if m.closed.Swap(true) {
		return nil
	}
	for _, l := range m.lanes {
		l.bell.ring()
	}
	m.inUse.Lock()
	defer m.inUse.Unlock()
	return Unmap(m.segment)
}

var _ collective.Exchanger = (*Member)(nil)
