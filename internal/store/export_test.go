package store

import (
	"context"
	"time"
)

func init() { firstPause = 10 * time.Millisecond } // tests let requests fail

// SetSleep replaces the clock: f is called in place of a wait.
func (s *Store) SetSleep(f func(time.Duration)) {
	s.sleep = func(_ context.Context, d time.Duration) error { f(d); return nil }
}
