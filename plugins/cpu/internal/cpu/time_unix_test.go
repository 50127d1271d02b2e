//go:build unix

package cpu

import (
	"syscall"
	"time"
)

// processTime returns the processor time of this process. Other loads of the machine disturb it less than
// the time on the clock.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
