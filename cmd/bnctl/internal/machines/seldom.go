package machines

import (
	"sync"
	"time"
)

// seldom forwards notes about strangers, at most ten per minute.
type seldom struct {
	to    func(format string, args ...any)
	mu    sync.Mutex
	since time.Time
	count int
}

const (
	notesAtOnce = 10
	notesWithin = time.Minute
)

func newSeldom(to func(format string, args ...any)) *seldom { return &seldom{to: to} }

func (s *seldom) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.since) > notesWithin {
		s.since, s.count = time.Now(), 0
	}
	if s.count++; s.count <= notesAtOnce {
		s.to("%s", text)
	}
	if s.count == notesAtOnce {
		s.to("more such notes within a minute are left out")
	}
}
