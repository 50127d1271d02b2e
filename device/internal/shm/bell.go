package shm

// For Go, a goroutine that sleeps on a futex is in a system call, and keeps one of the Ps on which
// goroutines run. If sleepers keep all Ps, Go's monitor repeatedly takes the Ps away, and
// meanwhile checks every 20 microseconds: on two cores, two devices lost 3 to 5 percent of the cores to
// this. A goroutine that reads from a pipe keeps no P.

// listen returns when ready returns true or the connection is closed. It waits by
// reading from the pipe.
func (r *ring) listen(ready func() bool) error {
	for {
		r.listening.Store(1)
		switch {
		case ready():
			r.listening.Store(0)
			return nil
		case r.closed.Load():
			return Closed
		}
		if err := awaitBell(r.bellRead); err != nil { // closed, or the other end no longer exists
			return r.sleep(&r.data, ready)
		}
	}
}

// wakeReader rings the bell of a reader that listens. A failed write means that the reader is
// gone; the error is dropped.
func (r *ring) wakeReader() {
	if r.bellWrite != nil && r.listening.Load() != 0 && r.listening.Swap(0) != 0 {
		wakePipe(r.bellWrite)
	}
}
