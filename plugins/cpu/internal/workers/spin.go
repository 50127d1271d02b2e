package workers

import "time"

// spin is a wait that stays awake. At first the waiter only looks; then it
// lets others have the core between two looks, since what it waits for may
// need that core.
type spin struct {
	looks int
	since time.Time // when it began to yield
}

const (
	onlyLooks  = 2000 // about a microsecond
	looksAtOne = 8    // looks for one at the clock
)

// more returns when it is time for another look, or false when the wait has
// lasted for limit.
func (s *spin) more(limit time.Duration) bool {
	s.looks++
	switch {
	case s.looks < onlyLooks:
		return true
	case s.looks == onlyLooks:
		s.since = time.Now()
	case s.looks%looksAtOne == 0 && time.Since(s.since) > limit:
		return false
	}
	yield()
	return true
}
