package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/bnctl/bnctl/legible"
)

// patientFor is how long something may take before a note says that it does.
const patientFor = 10 * time.Second

// waiting shows what a device is at: on a terminal in a line that changes, elsewhere in a note
// now and then while one thing takes long.
type waiting struct {
	out  *output
	quit chan struct{}
	wait sync.WaitGroup

	mu    sync.Mutex // held by who writes
	what  string
	since time.Time
	shown bool
}

func newWaiting(o *output) *waiting {
	w := &waiting{out: o, quit: make(chan struct{}), since: time.Now()}
	w.wait.Go(w.run)
	return w
}

func (w *waiting) run() {
	tick := time.NewTicker(patientFor)
	defer tick.Stop()
	for {
		select {
		case <-w.quit:
			return
		case <-tick.C:
			w.remind()
		}
	}
}

// begin says what begins.
func (w *waiting) begin(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.what, w.since = what, time.Now()
	if !w.out.terminal || w.out.quiet {
		return
	}
	text := []rune(legible.Text(what))
	if most := w.out.columns() - 1; len(text) > most {
		text = text[:most]
	}
	fmt.Fprintf(w.out.stderr, "\r\x1b[K%s", string(text))
	w.shown = true
}

// remind says that what is under way takes long.
func (w *waiting) remind() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if took := time.Since(w.since); w.what != "" && took >= patientFor {
		w.blank()
		w.out.note("%s: no answer for %d s", w.what, int(took.Seconds()))
	}
}

// clear makes room for a line of the result.
func (w *waiting) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blank()
}

func (w *waiting) blank() {
	if w.shown {
		fmt.Fprint(w.out.stderr, "\r\x1b[K")
		w.shown = false
	}
}

// stop ends what begin began.
func (w *waiting) stop() {
	close(w.quit)
	w.wait.Wait()
	w.clear()
}
