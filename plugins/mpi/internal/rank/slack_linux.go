package rank

import "golang.org/x/sys/unix"

// wakeInTime makes the naps of this thread end on time, instead of 50 microseconds late.
func wakeInTime() error { return unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0) }
