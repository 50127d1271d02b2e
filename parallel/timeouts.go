package parallel

import (
	"errors"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/internal/awake"
	"github.com/bnctl/bnctl/problem"
)

// Two limits decide that a device hangs. If others wait for it, Config.Timeout without any progress
// is enough. If it works alone (a load, a read, a commit), its call is compared with the longest
// step so far:
//
//	waited for by others    Timeout
//	alone                   Timeout + 10 x longest step, and as much for each call that it must
//	                        finish first
//	the first load          a minute at least: a device may compile
//	the only device         ten minutes at least, if Config.Timeout is not set: it keeps no
//	                        other device waiting, no other could replace it, and a slow
//	                        machine needs time for a large network

// timeoutFactor is the multiple of the longest step so far that a run may last, in addition
// to the timeout, if no other device is waiting for it.
const timeoutFactor = 10

// loadTimeout is the minimum timeout of the first Load: a device may have to compile its
// program.
const loadTimeout = time.Minute

// timeouts are the times after which a device with an unfinished call counts as lost.
type timeouts struct {
	timeout time.Duration // Config.Timeout
	longest time.Duration // duration of the longest step so far
	minimum time.Duration // minimum time limit of the only device
}

// onlyTimeout is timeouts.only if Config.Timeout is not set.
const onlyTimeout = 10 * time.Minute

// took records the duration of a step.
func (l *timeouts) took(d time.Duration) { l.longest = max(l.longest, d) }

// call calls f, which does not wait for other devices, and gives m up if the call needs
// much longer than a step.
func (l *timeouts) call(m *member, f func() error) error { return l.behind(m, 0, 0, f) }

// behind does the same as call, for a device that must finish other calls first. minimum is the smallest time
// limit.
func (l *timeouts) behind(m *member, calls int, minimum time.Duration, f func() error) error {
	limit := time.Duration(1+calls) * max(l.timeout+timeoutFactor*l.longest, minimum)
	silent := fmt.Errorf("did not answer within %v", limit)
	if minimum > 0 {
		silent = problem.Advise("try again when the machine has less to do, or take smaller batches, a smaller "+
			"model, or other {devices}", "the only device did not answer within %v", limit)
	}
	t := awake.AfterFunc(limit, func() { m.giveUp(silent) })
	defer t.Stop()
	return l.mark(m, f())
}

// load calls f, which loads a program on m, and gives m up after a time limit.
func (l *timeouts) load(m *member, f func() error) error {
	limit := max(l.timeout, loadTimeout)
	t := awake.AfterFunc(limit, func() { m.giveUp(fmt.Errorf("did not load the model within %v", limit)) })
	defer t.Stop()
	return l.markGone(m, f())
}

// lost is the error of a member that is gone.
type lost struct {
	member *member
	err    error
}

func (l *lost) Error() string { return l.err.Error() }
func (l *lost) Unwrap() error { return l.err }

// mark wraps an error of m so that recovery knows the member. A device that lacks memory
// for its earlier work, or for the replicas of a lost one, is as useless as a dead one.
func (l *timeouts) mark(m *member, err error) error {
	if errors.Is(err, device.OutOfMemory) {
		return &lost{m, err}
	}
	return l.markGone(m, err)
}

// markGone does the same as mark, except that too little memory is an ordinary error.
func (l *timeouts) markGone(m *member, err error) error {
	switch {
	case err == nil:
		return nil
	case m.hung.Load():
		return &lost{m, device.Errorf(m.Name, "Run", device.Lost, "%w", *m.silent.Load())}
	case errors.Is(err, device.Lost):
		return &lost{m, err}
	}
	return err
}
