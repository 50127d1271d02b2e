package shm

// A goroutine that sleeps on a futex is in a system call, and keeps its P (a processor of Go's
// scheduler). If sleepers keep all Ps, Go's monitor thread repeatedly retakes the Ps. To do so it wakes
// up every 20 microseconds. With two devices on two cores this cost 3 to 5 percent of the processor
// time. A goroutine that reads from a pipe keeps no P.

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

// wakeReader writes into the pipe if the reader is listening to it. A failed write means that the
// reader is gone, so the error is ignored.
func (r *ring) wakeReader() {
	if r.bellWrite != nil && r.listening.Load() != 0 && r.listening.Swap(0) != 0 {
		wakePipe(r.bellWrite)
	}
}
