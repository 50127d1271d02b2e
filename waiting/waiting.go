// Package waiting shows what a program waits for: on a terminal in a line that changes, elsewhere in
// a note now and then while one thing takes long.
//
// Use it where a device, or another machine, is asked for one thing after the other, and any of them
// may take long or never come.
package waiting

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/bnctl/bnctl/legible"
)

// Line shows what is waited for. Its methods may be called from any goroutine.
type Line struct {
	to       io.Writer
	columns  func() int
	terminal bool
	patience time.Duration
	quit     chan struct{}
	wait     sync.WaitGroup

	mu    sync.Mutex // held by who writes
	what  string
	since time.Time
	shown bool
}

// New returns a line that is written to a writer. columns is the width of that if it is a
// terminal, nil if it is none. When one thing takes longer than patience, and whenever that is over
// again, a note says so. The caller stops the line.
func New(to io.Writer, columns func() int, patience time.Duration) *Line {
	l := &Line{to: to, columns: columns, terminal: columns != nil, patience: patience, quit: make(chan struct{})}
	l.wait.Go(l.run)
	return l
}

// run notes what takes long, until Stop.
func (l *Line) run() {
	tick := time.NewTicker(l.patience)
	defer tick.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-tick.C:
			l.remind()
		}
	}
}

// Begin says what is waited for from now on.
func (l *Line) Begin(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.what, l.since = legible.Text(what), time.Now()
	if !l.terminal {
		return
	}
	text := []rune(l.what)
	fmt.Fprintf(l.to, "\r\x1b[K%s", string(text[:min(len(text), max(l.columns()-1, 0))]))
	l.shown = true
}

// remind says that what is waited for takes long.
func (l *Line) remind() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if took := time.Since(l.since); l.what != "" && took >= l.patience {
		l.blank()
		fmt.Fprintf(l.to, "%s: no answer for %v\n", l.what, took.Round(time.Second))
	}
}

// Clear makes room for a line of the program's own. What was begun goes on.
func (l *Line) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blank()
}

func (l *Line) blank() {
	if l.shown {
		fmt.Fprint(l.to, "\r\x1b[K")
		l.shown = false
	}
}

// Stop ends the line.
func (l *Line) Stop() {
	close(l.quit)
	l.wait.Wait()
	l.Clear()
}
