package parallel

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/internal/awake"
)

// A hanging device looks like a slow one, except in comparison with others. The devices that are
// missing are given up if all others have reached an exchange, or have returned, and nothing
// changes for the timeout. A single device is compared with its longest step (timeoutFactor).

// watchdog gives up devices that keep a run waiting. Only the host declares a device lost:
// a device that has not arrived, never one that waits.
type watchdog struct {
	members    members
	hub        exchange
	done       []atomic.Bool // whether the run of each member has returned, by rank
	chunksDone atomic.Int64  // finished chunks, for a run that consists of several chunks
	timeout    time.Duration
	longest    time.Duration
	clock      *awake.Clock // measures the time since the run began
	outside    atomic.Int64 // nanoseconds in which all members waited for other ranks
	quit       chan struct{}
	wait       sync.WaitGroup
}

// watch starts to watch a run of members that exchange values at hub.
func (l *timeouts) watch(ms members, hub exchange) *watchdog {
	w := &watchdog{members: ms, hub: hub, done: make([]atomic.Bool, len(ms)),
		timeout: l.timeout, longest: l.longest, clock: awake.Start(l.timeout), quit: make(chan struct{})}
	w.wait.Go(w.run)
	return w
}

func (w *watchdog) run() {
	tick := time.NewTicker(w.clock.Interval())
	defer tick.Stop()
	since, before, last := time.Duration(0), time.Duration(0), ""
	for {
		select {
		case <-w.quit:
			return
		case <-tick.C:
		}
		at := w.clock.Elapsed()
		if missing := w.hub.Missing(); missing != nil && len(missing) == 0 {
			w.outside.Add(int64(at - before))
		}
		before = at
		overdue, picture := w.overdue(w.elapsed())
		if picture != last {
			since, last = at, picture
		}
		if len(overdue) > 0 && at-since >= w.timeout {
			w.giveUp(overdue)
			return
		}
	}
}

// overdue returns the ranks that others wait for, and a text that changes whenever the run makes
// progress. elapsed is the time since the run began.
func (w *watchdog) overdue(elapsed time.Duration) (ranks []int, picture string) {
	missing := w.hub.Missing()
	var running []int
	for rank := range w.members {
		if !w.done[rank].Load() {
			running = append(running, rank)
		}
	}
	picture = fmt.Sprint(w.hub.Exchanges(), w.chunksDone.Load(), missing, running)
	switch {
	case missing != nil:
		return missing, picture
	case len(running) < len(w.members):
		return running, picture
	case w.longest > 0 && elapsed > timeoutFactor*w.longest:
		return running, picture
	}
	return nil, picture
}

// giveUp ends the calls of hanging members.
func (w *watchdog) giveUp(ranks []int) {
	for _, rank := range ranks {
		w.members[rank].giveUp(fmt.Errorf("kept the others waiting for %v", w.timeout))
	}
}

// finished records that a member is done.
func (w *watchdog) finished(rank int) { w.done[rank].Store(true) }

// elapsed returns the duration of the run, without the time spent waiting for other ranks.
// One of them may be replacing a device, and that time is not a measure for the devices of
// this rank.
func (w *watchdog) elapsed() time.Duration {
	return w.clock.Elapsed() - time.Duration(w.outside.Load())
}

// stop ends the watch.
func (w *watchdog) stop() {
	close(w.quit)
	w.wait.Wait()
}
