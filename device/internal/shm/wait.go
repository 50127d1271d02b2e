package shm

import (
	"runtime"
	"time"
)

// WaitPolicy determines how a side waits.
type WaitPolicy uint32

const (
	WaitSleep WaitPolicy = iota // if threads share cores
	WaitNap                     // if every computing thread has a core
	WaitSpin                    // if the waiting thread has a core, too
)

const (
	// shortSpin is the time that a reader that may spin polls before it does anything else.
	shortSpin = 20 * time.Microsecond
	// early is how long before the usual time a reader wakes up: a slice of Linux's
	// scheduler (1.4 milliseconds on two cores). Waking up on a sleeping core needs up to 100
	// microseconds, and a timer 50. But a thread that has got the core meanwhile may finish its
	// slice first, whatever its priority.
	early = 1500 * time.Microsecond
	// overdue is the minimum time that it spins after the usual time.
	overdue = 200 * time.Microsecond
	// shared is the shortest pause that shows that another thread computed on the core. The system
	// itself uses the core for up to 100 microseconds, and a timer's tick uses it for 30 to 60 on a
	// virtual machine.
	shared = 300 * time.Microsecond
	// maxEarly and maxOverdue limit the time that a reader spins before and after the usual time.
	maxEarly   = 2 * time.Millisecond
	maxOverdue = 2 * time.Millisecond
)

// await waits for bytes. A reader that may spin sleeps for most of its usual waiting time, and spins
// around the end of this time. So it costs little, and is awake when the bytes arrive. A device does
// not sleep in short waits, because a core that slept for a millisecond wakes up late and computes
// slower at first.
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

// awakeFor returns how long a reader with this usual time first sleeps, 0 if sleeping is not
// worthwhile, and the time until which it then spins.
func awakeFor(usual time.Duration) (asleep, until time.Duration) {
	if before := min(early+usual/16, maxEarly); usual > 2*before {
		asleep = usual - before
	}
	return asleep, usual + min(overdue+usual/4, maxOverdue)
}

// peek reports whether there are bytes. It waits for them for at most d.
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

// learn moves the usual time towards the time of one wait. A shorter time replaces it at once.
func (r *ring) learn(took time.Duration) { r.usual = min(took, r.usual+(took-r.usual)/4) }

// looks is the number of checks of a spinning waiter before it reads the time: about a microsecond.
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

// doze returns when ready returns true, the time has come, or the connection is closed.
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
	// shortNap is less than the 10 milliseconds after which Go's monitor takes the P from a goroutine
	// that sleeps in a system call. After it has taken one, the monitor checks every 20 microseconds
	// for more, for some milliseconds, on a core that a device may be computing on: a step of 85
	// milliseconds became two milliseconds longer.
	shortNap = 8 * time.Millisecond
	// shortNaps is the number of short naps. They come first, because a longer wait is not urgent.
	shortNaps = 64
	// longNap bounds every sleep, so that a side that is never woken because its peer is
	// gone checks now and then.
	longNap = 200 * time.Millisecond
)

// napOf returns the maximum length of nap n. If threads share cores, there may be more of them than Go
// runs at once, and short naps would keep its monitor busy all the time.
func napOf(a WaitPolicy, n int) time.Duration {
	if a == WaitSleep || n >= shortNaps {
		return longNap
	}
	return shortNap
}

// nap is nap n of a wait. It ends when the bell has been rung since count returned seen, or
// after at most most.
func (b *bell) nap(seen uint32, n int, most time.Duration) {
	if n > 0 {
		runtime.Gosched() // shows Go's monitor that the goroutine is alive
	}
	b.sleep(seen, most)
}
