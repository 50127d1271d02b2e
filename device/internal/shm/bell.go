package shm

// To Go, a goroutine that sleeps on a futex is in a system call: it keeps one of the Ps on
// which goroutines run. If the number of sleepers reaches the number of Ps, Go's monitor
// repeatedly takes the Ps away and meanwhile checks every 20 microseconds: two devices on
// two cores lost 3 to 5 percent of the cores to this. A goroutine that reads from a pipe
// keeps no P.

// listen returns when ready does or the connection is closed: it reads from the
// pipe.
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
		if err := awaitBell(r.bellRead); err != nil { // closed, or the other end does not exist any more
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
