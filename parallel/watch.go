package parallel

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/awake"
)

// patience is how many times the longest step so far a run may take, beyond
// the time-out, if no other device is there to wait for it.
const patience = 10

// watch gives up devices that keep a run waiting: the host alone declares a
// device lost, from who has not come, never from who waits.
type watch struct {
	members []*member
	hub     meeting
	done    []atomic.Bool // by rank: the run has returned
	parts   atomic.Int64  // of runs that are finished, where a run has some
	timeout time.Duration
	longest time.Duration
	clock   *awake.Clock // since the run began
	quit    chan struct{}
	wait    sync.WaitGroup
}

// watch starts to watch the run of all present members.
func (g *Group) watch() *watch {
	w := &watch{members: slices.Clone(g.members), hub: g.hub, done: make([]atomic.Bool, len(g.members)),
		timeout: g.config.timeout(), longest: g.longest, clock: awake.Start(g.config.timeout()),
		quit: make(chan struct{})}
	w.wait.Go(w.run)
	return w
}

func (w *watch) run() {
	tick := time.NewTicker(w.clock.Interval())
	defer tick.Stop()
	since, last := time.Duration(0), ""
	for {
		select {
		case <-w.quit:
			return
		case <-tick.C:
		}
		at := w.clock.Elapsed()
		late, picture := w.late(at)
		if picture != last {
			since, last = at, picture
		}
		if len(late) > 0 && at-since >= w.timeout {
			w.giveUp(late)
			return
		}
	}
}

// late returns the ranks that somebody waits for at a time of the run, and a
// picture that changes as long as it makes progress.
func (w *watch) late(at time.Duration) (ranks []int, picture string) {
	missing := w.hub.Missing()
	var running []int
	for rank := range w.members {
		if !w.done[rank].Load() {
			running = append(running, rank)
		}
	}
	picture = fmt.Sprint(w.hub.Exchanges(), w.parts.Load(), missing, running)
	switch {
	case missing != nil:
		return missing, picture
	case len(running) < len(w.members):
		return running, picture
	case w.longest > 0 && at > patience*w.longest:
		return running, picture
	}
	return nil, picture
}

// giveUp ends the calls of members that hang.
func (w *watch) giveUp(ranks []int) {
	for _, rank := range ranks {
		w.members[rank].giveUp()
	}
}

// finished notes that a member is done.
func (w *watch) finished(rank int) { w.done[rank].Store(true) }

func (w *watch) elapsed() time.Duration { return w.clock.Elapsed() }

// stop ends the watch.
func (w *watch) stop() {
	close(w.quit)
	w.wait.Wait()
}

// giveUp declares a device lost that does not answer.
func (m *member) giveUp() {
	m.hung.Store(true)
	_ = m.Device.Close() // ends the call that hangs
}

// withDeadline calls f, which waits for no other device, and gives m up if that
// takes much longer than a step.
func (g *Group) withDeadline(m *member, f func() error) error {
	t := awake.AfterFunc(g.config.timeout()+patience*g.longest, m.giveUp)
	defer t.Stop()
	return g.mark(m, f())
}
