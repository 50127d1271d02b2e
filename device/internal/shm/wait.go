package shm

import (
	"runtime"
	"time"
)

// WaitPolicy determines how a side waits for bytes.
type WaitPolicy uint32

const (
	WaitSleep WaitPolicy = iota // use if threads share cores
	WaitNap                     // use if every computing thread has a core
	WaitSpin                    // use if the waiting thread has a core, too
)

const (
	// shortSpin is the time that a reader that may spin polls before it does anything else.
	shortSpin = 20 * time.Microsecond
	// early is how much earlier than usual a reader wakes up. A sleeping core needs up
	// to 100 microseconds to wake up, and a timer 50. But another thread may have the core, and may
	// use it to the end of its time slice whatever its priority. A slice of Linux's scheduler has
	// 1.4 milliseconds on two cores.
	early = 1500 * time.Microsecond
	// overdue is the minimum time that a reader spins after the usual time.
	overdue = 200 * time.Microsecond
	// shared is the length of the shortest pause of a spinning thread that shows that another thread
	// computed on its core. The system itself uses the core for up to 100 microseconds, and a timer's tick
	// uses it for 30 to 60 on a virtual machine.
	shared = 300 * time.Microsecond
	// maxEarly and maxOverdue limit the time that a reader spins before and after the usual time.
	maxEarly   = 2 * time.Millisecond
	maxOverdue = 2 * time.Millisecond
)

// await waits for bytes. A reader that may spin sleeps for most of its usual waiting time, and spins
// around the end of this time. This costs little processor time, and the reader is awake when the bytes
// arrive. A device does not sleep in short waits, because a core that has slept for a millisecond wakes
// up late and computes slower at first.
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

// awakeFor returns two times for a reader with the given usual waiting time, both from the start of the
// wait. The reader sleeps until the first time, if that is not 0, and then spins until the second time.
func awakeFor(usual time.Duration) (sleepUntil, spinUntil time.Duration) {
	if before := min(early+usual/16, maxEarly); usual > 2*before {
		sleepUntil = usual - before
	}
	return sleepUntil, usual + min(overdue+usual/4, maxOverdue)
}

// peek reports whether there are bytes. It waits for bytes for at most d.
func (r *ring) peek(d time.Duration) bool {
	seen := r.data.count()
	if r.written.Load() == r.pos && d > 0 {
		if d > shortNap { // Go's monitor would interrupt a longer raw system call
			r.data.sleep(seen, d)
		} else {
			r.data.sleepUnseen(seen, d)
		}
	}
	return r.written.Load() != r.pos
}

// learn updates the usual time after a wait. The time of a shorter wait replaces it. The time of a longer
// wait moves it by a quarter of the difference.
func (r *ring) learn(took time.Duration) { r.usual = min(took, r.usual+(took-r.usual)/4) }

// looks is the number of checks between two readings of the clock while spinning. They take about a
// microsecond.
const looks = 500

// poll spins until ready returns true or the deadline has passed, and returns the last result
// of ready. It does not yield the core between checks, because Linux 6.6 and later give a
// yielded core to any other thread, even of idle priority, for some milliseconds. If another
// thread has used the core in the meantime, poll gives up, because that thread may be the peer
// and may have no other core.
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

// doze sleeps until ready returns true, the deadline has passed, or the connection is closed.
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

// sleep sleeps until ready returns true or the connection is closed.
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
	// shortNap is less than 10 milliseconds. After this time Go's monitor thread takes the P from a
	// goroutine that sleeps in a system call. For some milliseconds it then wakes up every 20
	// microseconds, on a core that a device may be using. A step of 85 milliseconds became two
	// milliseconds longer by this.
	shortNap = 8 * time.Millisecond
	// shortNaps is the number of short naps at the beginning of a wait. A wait that is longer than that
	// is not urgent.
	shortNaps = 64
	// longNap is the maximum length of a sleep. If the peer is gone and never wakes this side, the
	// side still checks its condition after this time.
	longNap = 200 * time.Millisecond
)

// napOf returns the maximum length of nap n. Short naps are not used if threads share cores: there may
// be more sleeping goroutines than Ps, and short naps would keep Go's monitor busy all the time.
func napOf(a WaitPolicy, n int) time.Duration {
	if a == WaitSleep || n >= shortNaps {
		return longNap
	}
	return shortNap
}

// nap is sleep number n of a wait. It sleeps until the bell has been rung since count returned seen, but
// at most for the time limit.
func (b *bell) nap(seen uint32, n int, limit time.Duration) {
	if n > 0 {
		runtime.Gosched() // Go's monitor sees that the P is not blocked
	}
	b.sleep(seen, limit)
}
