package machines

import (
	"sync"
	"time"
)

// seldom forwards notes about strangers, at most ten per minute.
type seldom struct {
	logf  func(format string, args ...any)
	mu    sync.Mutex
	last  time.Time
	count int
}

const (
	notesAtOnce = 10
	notesWithin = time.Minute
)

func newSeldom(logf func(format string, args ...any)) *seldom { return &seldom{logf: logf} }

func (s *seldom) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.last) > notesWithin {
		s.last, s.count = time.Now(), 0
	}
	if s.count++; s.count <= notesAtOnce {
		s.logf("%s", text)
	}
	if s.count == notesAtOnce {
		s.logf("more such notes within a minute are left out")
	}
}
