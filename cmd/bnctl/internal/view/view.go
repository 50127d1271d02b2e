// Package view shows on a terminal what a training run does: how far it is, curves, where the time of each
// device goes, what has happened.
//
// A State is what is shown, by the events and moments of a run; Draw makes lines of it for a size, and knows
// no terminal. View puts these lines on one.
package view

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/bnctl/bnctl/internal/waiting"
	"github.com/bnctl/bnctl/train"
)

// interval is how often the view is drawn.
const interval = time.Second

// View is a run on a terminal, below the lines that are printed there.
type View struct {
	look   Look
	screen *waiting.Screen

	mu    sync.Mutex // guards the fields below
	state State
	began time.Time
}

// New begins to show a run of which only a title is known. The caller stops the view.
func New(to io.Writer, title string, colours bool) *View {
	v := &View{look: Look{Unicode: waiting.Unicode(os.Getenv), Colours: colours}, began: time.Now()}
	v.state.Title = title
	v.screen = waiting.NewScreen(to, interval, v.draw)
	return v
}

// Event takes in what the run tells. It is seen when the view is drawn next.
func (v *View) Event(e train.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.Event(e, time.Since(v.began))
}

// Moment takes in where the run stands. It is seen when the view is drawn next.
func (v *View) Moment(m train.Moment) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.Moment(m, time.Since(v.began))
}

// Stop takes the view away.
func (v *View) Stop() { v.screen.Stop() }

func (v *View) draw(size waiting.Size) []waiting.Row {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.Elapsed = time.Since(v.began)
	var rows []waiting.Row
	for _, l := range v.state.Draw(size, v.look.Unicode) {
		rows = append(rows, waiting.Row{Text: l.text(v.look), Columns: l.columns()})
	}
	return rows
}
