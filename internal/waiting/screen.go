package waiting

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Screen keeps text at the end of what a terminal shows, and draws it again after every interval, so
// that the program is seen to live. Its methods may be called from any goroutine.
type Screen struct {
	to   io.Writer
	draw func(columns int) string
	quit chan struct{}
	wait sync.WaitGroup

	mu    sync.Mutex // guards lines and the writer
	lines int        // that the text takes now
}

// NewScreen begins to show what draw returns for a number of columns: lines no wider than that, of
// legible text. draw is called by one goroutine at a time. The caller stops the screen.
func NewScreen(to io.Writer, interval time.Duration, draw func(columns int) string) *Screen {
	s := &Screen{to: to, draw: draw, quit: make(chan struct{})}
	s.Above(func() {})
	s.wait.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-s.quit:
				return
			case <-tick.C:
				s.Above(func() {})
			}
		}
	})
	return s
}

// Above lets write print lines of its own, above the text, which is drawn again below them.
func (s *Screen) Above(write func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	write()
	text := s.draw(Columns(s.to))
	if text == "" {
		return
	}
	fmt.Fprint(s.to, text) // a terminal that cannot be written to shows nothing: no reason to stop
	s.lines = 1 + strings.Count(text, "\n")
}

// erase takes the text away; the cursor is where it began.
func (s *Screen) erase() {
	if s.lines > 0 {
		fmt.Fprint(s.to, "\r\x1b[K"+strings.Repeat("\x1b[A\x1b[K", s.lines-1))
	}
	s.lines = 0
}

// Stop takes the text away, for good.
func (s *Screen) Stop() {
	close(s.quit)
	s.wait.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}
