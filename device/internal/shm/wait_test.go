package shm

import (
	"testing"
	"time"
)

// TestAwakeFor checks that a reader that may spin wakes up one time slice of the scheduler before
// the expected time, and does not sleep if the sleep would be short.
func TestAwakeFor(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	for _, c := range []struct{ usual, asleep, until time.Duration }{
		{0, 0, 200 * us},
		{1300 * us, 0, 1825 * us},
		{3 * ms, 0, 3950 * us},
		{8 * ms, 6 * ms, 10 * ms},
		{100 * ms, 98 * ms, 102 * ms},
	} {
		if asleep, until := awakeFor(c.usual); asleep != c.asleep || until != c.until {
			t.Errorf("a wait of usually %v: asleep for %v, awake until %v; want %v and %v", c.usual, asleep, until,
				c.asleep, c.until)
		}
	}
}
