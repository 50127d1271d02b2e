// Package view shows a training run on a terminal: its progress, its curves, how each device spends the
// time, and events.
//
// A State is built from the events and moments of a run. Draw turns it into lines for a
// given size, independently of a terminal. View writes these lines to a terminal.
package view

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/bnctl/bnctl/internal/waiting"
	"github.com/bnctl/bnctl/train"
)

// interval is the time between two drawings of the view.
const interval = time.Second

// View shows a run on a terminal. It is drawn below the lines that are printed there.
type View struct {
	look   Look
	screen *waiting.Screen

	mu    sync.Mutex // guards the fields below
	state State
	began time.Time
}

// New starts to show a run, with only its title known. The caller must stop the view.
func New(w io.Writer, title string, colours bool) *View {
	v := &View{look: Look{Unicode: waiting.Unicode(os.Getenv), Colours: colours}, began: time.Now()}
	v.state.Title = title
	v.screen = waiting.NewScreen(w, interval, v.draw)
	return v
}

// Event handles an event of the run. It becomes visible when the view is drawn again.
func (v *View) Event(e train.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.Event(e, time.Since(v.began))
}

// Moment stores the progress of the run. It becomes visible when the view is drawn again.
func (v *View) Moment(m train.Moment) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.Moment(m, time.Since(v.began))
}

// Stop removes the view.
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
