// Package live shows the progress of a training run in one line on a terminal, from the first second of the
// run on.
//
// A Line turns the events and moments of the run into text. waiting.Screen handles the terminal and the time.
package live

import (
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bnctl/bnctl/internal/waiting"
	"github.com/bnctl/bnctl/train"
)

// interval is the time between two drawings of the line.
const interval = time.Second

// Line is the line that shows a run, the last one on the terminal.
type Line struct {
	screen *waiting.Screen

	mu      sync.Mutex // guards the fields below
	total   int        // number of steps of the run
	first   int        // step that the run began at
	unicode bool       // the terminal shows UTF-8
	began   time.Time
	last    train.Stepped // the last figures; before the first ones Step is 0
	moment  train.Moment
}

// New begins to show a run. The caller must stop the line.
func New(w io.Writer, e train.Started) *Line {
	l := &Line{total: e.TotalSteps, first: e.FirstStep, began: time.Now(), unicode: waiting.Unicode(os.Getenv),
		moment: train.Moment{Step: e.FirstStep}}
	l.screen = waiting.NewScreen(w, interval, l.draw)
	return l
}

// Event stores the figures of an event. They become visible when the line is drawn again.
func (l *Line) Event(e train.Event) {
	if e, ok := e.(train.Stepped); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.last = e
	}
}

// Moment stores the progress of the run. It becomes visible when the line is drawn again.
func (l *Line) Moment(m train.Moment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moment = m
}

// Stop removes the line.
func (l *Line) Stop() { l.screen.Stop() }

// draw returns the line: the bar, and the fields that fit.
func (l *Line) draw(size waiting.Size) []waiting.Row {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := drawBar(l.moment.Step, l.total, l.unicode) +
		fitted(l.fields(time.Since(l.began)), size.Columns-barWidth-1) // a full line would wrap
	if size.Columns <= barWidth {
		text = fitted(l.fields(time.Since(l.began)), size.Columns-1)
	}
	return []waiting.Row{{Text: text, Columns: utf8.RuneCountInString(text)}}
}
