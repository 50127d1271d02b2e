package workers

import "time"

// spin is a wait that stays awake: the waiter only polls. If the waiter yielded the core between two polls,
// the scheduler would decide when it runs again. On Linux this may be after the 4 milliseconds of a task of
// idle priority, a thousand times the expected wait.
type spin struct {
	looks int
	since time.Time // time of the first look at the clock, after looksAtOne polls
}

// looksAtOne is the number of polls between two readings of the clock, about a microsecond.
const looksAtOne = 1000

// mayContinue returns true when it is time for the next poll. It returns false if the wait has lasted for
// limit.
func (s *spin) mayContinue(limit time.Duration) bool {
	s.looks++
	switch {
	case s.looks%looksAtOne != 0:
		return true
	case s.looks == looksAtOne:
		s.since = time.Now()
		return true
	}
	return time.Since(s.since) <= limit
}
