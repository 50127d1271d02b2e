//go:build unix

package cpu

import (
	"syscall"
	"time"
)

// processTime returns the processor time of this process, which other loads
// of the machine disturb less than they do the clock.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
