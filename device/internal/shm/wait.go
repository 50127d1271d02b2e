package shm

import (
	"runtime"
	"time"
)

// WaitPolicy is how awake a side is while it waits.
type WaitPolicy uint32

const (
	WaitSleep WaitPolicy = iota // where threads share cores
	WaitNap                     // where every thread that computes has a core
	WaitSpin                    // where the waiting thread has one too
)

const (
	// shortSpin is how long a reader that may spin polls before anything else.
	shortSpin = 20 * time.Microsecond
	// early is how long before the usual time a reader wants to be awake: a slice of
	// Linux's scheduler (1.4 milliseconds on two cores). Waking up on a sleeping core needs
	// up to 100 microseconds, a timer 50. But a thread that has got the core meanwhile may
	// finish its slice first, whatever its priority.
	early = 1500 * time.Microsecond
	// overdue is how long after the usual time it still spins, at least.
	overdue = 200 * time.Microsecond
	// shared is the shortest pause that shows that another thread computed on the core. The
	// system itself uses the core for up to 100 microseconds, and a timer's tick uses it
	// for 30 to 60 on a virtual machine.
	shared = 300 * time.Microsecond
	// maxEarly and maxOverdue bound the time that a reader spins before and after the usual.
	maxEarly   = 2 * time.Millisecond
	maxOverdue = 2 * time.Millisecond
)

// await waits for bytes. A reader that may spin sleeps for most of the time
// that it usually waits, and looks around the end of it: so it costs little, and
// is not asleep when the bytes come. A device does not sleep in waits that are
// short: a core that slept for a millisecond is late and computes slower at first.
func (r *ring) await() error {
	ready := func() bool { return r.written.Load() != r.pos }
	switch {
	case WaitPolicy(r.waitPolicy.Load()) == WaitSpin:
	case r.bellRead != nil:
		return r.listen(ready)
	default:
		return r.sleep(&r.data, ready)
	}
	began := time.Now()
	if poll(ready, began.Add(shortSpin)) {
		return nil
	}
	asleep, until := awakeFor(r.usual)
	if asleep > 0 && (r.bellRead != nil || r.usual > maxOverdue) {
		if err := r.doze(ready, began.Add(asleep)); err != nil {
			return err
		}
	}
	var err error
	if !poll(ready, began.Add(until)) {
		err = r.sleep(&r.data, ready)
	}
	r.learn(time.Since(began))
	return err
}

// awakeFor returns how long a reader that waits as usual sleeps at first, 0 if it is not worth it, and up to
// when it spins then.
func awakeFor(usual time.Duration) (asleep, until time.Duration) {
	if before := min(early+usual/16, maxEarly); usual > 2*before {
		asleep = usual - before
	}
	return asleep, usual + min(overdue+usual/4, maxOverdue)
}

// peek reports whether there are bytes, after at most d.
func (r *ring) peek(d time.Duration) bool {
	seen := r.data.count()
	if r.written.Load() == r.pos && d > 0 {
		if d > shortNap { // Go's monitor would interrupt it
			r.data.sleep(seen, d)
		} else {
			r.data.sleepUnseen(seen, d)
		}
	}
	return r.written.Load() != r.pos
}

// learn moves the usual time toward the time of one wait; a shorter time replaces it at
// once.
func (r *ring) learn(took time.Duration) { r.usual = min(took, r.usual+(took-r.usual)/4) }

// looks is how often a spinning waiter checks before it reads the time: for about a
// microsecond.
const looks = 500

// poll spins until ready returns true or the time is over, and reports whether it is ready.
// It does not yield the core between two checks: Linux 6.6 and later give a yielded core to
// any other thread, even one of idle priority, for a slice of milliseconds. If another
// thread gets the core, it may be the peer, which may have no other core: poll then gives
// up.
func poll(ready func() bool, until time.Time) bool {
	for last := time.Now(); ; {
		for range looks {
			if ready() {
				return true
			}
		}
		now := time.Now()
		if now.After(until) || now.Sub(last) > shared {
			return ready()
		}
		last = now
	}
}

// doze returns when ready does, the time has come or the connection is closed.
func (r *ring) doze(ready func() bool, until time.Time) error {
	for n := 0; ; n++ {
		seen, left := r.data.count(), time.Until(until)
		switch {
		case ready() || left <= 0:
			return nil
		case r.closed.Load():
			return Closed
		}
		r.data.nap(seen, n, min(left, shortNap))
	}
}

// sleep returns when ready does, or the connection is closed.
func (r *ring) sleep(b *bell, ready func() bool) error {
	for n := 0; ; n++ {
		seen := b.count()
		switch {
		case ready():
			return nil
		case r.closed.Load():
			return Closed
		}
		b.nap(seen, n, napOf(WaitPolicy(r.waitPolicy.Load()), n))
	}
}

const (
	// shortNap is less than the 10 milliseconds after which Go's monitor takes the P of a
	// goroutine that sleeps in a system call. After it has taken one, the monitor checks
	// every 20 microseconds for more, for some milliseconds, on a core that a device may be
	// computing on: a step of 85 milliseconds lost two.
	shortNap = 8 * time.Millisecond
	// shortNaps come first. A longer wait has time.
	shortNaps = 64
	// longNap bounds every sleep, so that a side that is never woken because its peer is
	// gone checks now and then.
	longNap = 200 * time.Millisecond
)

// napOf returns how long nap n lasts at most. Where threads share cores there
// may be more of them than Go runs at once, and short naps would make its
// monitor busy for good.
func napOf(a WaitPolicy, n int) time.Duration {
	if a == WaitSleep || n >= shortNaps {
		return longNap
	}
	return shortNap
}

// nap is nap n of a wait. It ends when the bell has been rung since
// count gave seen, or after so long.
func (b *bell) nap(seen uint32, n int, most time.Duration) {
	if n > 0 {
		runtime.Gosched() // to Go's monitor this is a sign of life
	}
	b.sleep(seen, most)
}
