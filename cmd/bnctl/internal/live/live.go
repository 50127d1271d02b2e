// Package live shows on a terminal how a training run stands, from its first second on.
//
// Line knows the run, by its events and moments; waiting.Screen knows the terminal and the time.
package live

import (
	"io"
	"sync"
	"time"

	"github.com/bnctl/bnctl/internal/waiting"
	"github.com/bnctl/bnctl/train"
)

// interval is how often the line is drawn.
const interval = time.Second

// Line is a run's line at the end of a terminal.
type Line struct {
	screen *waiting.Screen

	mu    sync.Mutex // guards the fields below
	total int        // steps of the run
	first int        // step that it began at
	began time.Time
	last  train.Stepped // the last figures; Step is 0 before the first
	now   train.Moment
}

// New begins to show a run. The caller stops the line.
func New(to io.Writer, e train.Started) *Line {
	l := &Line{total: e.TotalSteps, first: e.FirstStep, began: time.Now(), now: train.Moment{Step: e.FirstStep}}
	l.screen = waiting.NewScreen(to, interval, l.draw)
	return l
}

// Step takes in figures of the last steps.
func (l *Line) Step(e train.Stepped) {
	l.mu.Lock()
	l.last = e
	l.mu.Unlock()
	l.Above(func() {})
}

// Moment takes in where the run stands. What it says is seen when the line is drawn next.
func (l *Line) Moment(m train.Moment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = m
}

// Above lets write print lines above the line.
func (l *Line) Above(write func()) { l.screen.Above(write) }

// Stop takes the line away.
func (l *Line) Stop() { l.screen.Stop() }

// draw writes the bar and what fits behind it.
func (l *Line) draw(columns int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	bar := drawBar(l.now.Step, l.total)
	return bar + fitted(l.fields(time.Since(l.began)), columns-barWidth-1) // a full line would wrap
}
