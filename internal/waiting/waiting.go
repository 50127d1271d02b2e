// Package waiting shows that a program is waiting, and for what: on a terminal in a line that changes,
// elsewhere in an occasional note during a long wait.
//
// Use it where a program makes requests to a device or another machine one after the other, and any of
// them may be slow or never be answered.
package waiting

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/bnctl/bnctl/internal/legible"
)

// Line shows the current wait. Its methods may be called from any goroutine.
type Line struct {
	w        io.Writer
	terminal bool
	interval time.Duration
	quit     chan struct{}
	wait     sync.WaitGroup

	mu      sync.Mutex // guards the fields below and the writer
	name    string
	began   time.Time
	visible bool
}

// New returns a line on a writer, which writes nothing unless visible. On a terminal it
// shows the current wait. Each time another interval (patience) has passed since Begin, it
// writes a note. The caller stops the line.
func New(w io.Writer, visible, terminal bool, patience time.Duration) *Line {
	if !visible {
		w = io.Discard
	}
	l := &Line{w: w, terminal: terminal, interval: patience, quit: make(chan struct{})}
	l.wait.Go(l.run)
	return l
}

// run writes notes about slow waits until Stop.
func (l *Line) run() {
	tick := time.NewTicker(l.interval)
	defer tick.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-tick.C:
			l.noteSlow()
		}
	}
}

// Begin sets the current wait.
func (l *Line) Begin(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.name, l.began = legible.Text(name), time.Now()
	if !l.terminal {
		return
	}
	text := []rune(l.name)
	fmt.Fprintf(l.w, "\r\x1b[K%s", string(text[:min(len(text), max(Columns(l.w)-1, 0))]))
	l.visible = true
}

// noteSlow writes a note if the current wait has taken an interval.
func (l *Line) noteSlow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if took := time.Since(l.began); l.name != "" && took >= l.interval {
		l.erase()
		fmt.Fprintf(l.w, "%s: no answer for %v\n", l.name, took.Round(time.Second))
	}
}

// Clear erases the line, so that the program can write other lines. The wait continues.
func (l *Line) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
}

func (l *Line) erase() {
	if l.visible {
		fmt.Fprint(l.w, "\r\x1b[K")
		l.visible = false
	}
}

// Stop ends the line.
func (l *Line) Stop() {
	close(l.quit)
	l.wait.Wait()
	l.Clear()
}
