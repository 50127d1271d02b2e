package parallel

import (
	"errors"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/internal/awake"
	"github.com/bnctl/bnctl/problem"
)

// Two limits decide that a device hangs. Where others wait for it, Config.Timeout without
// any progress is enough. Where it works alone (a load, a read, a commit) there is nothing
// to compare with, except the longest step so far:
//
//	waited for by others    Timeout
//	alone                   Timeout + 10 x longest step, for every call before it too
//	the first load          a minute at least: a device may compile
//	the only device         ten minutes at least, where Config.Timeout is not given: no other one
//	                        waits or could go on, and a slow machine takes its time for a large network

// timeoutFactor is how many times the longest step so far a run may take, beyond
// the time-out, if no other device is there to wait for it.
const timeoutFactor = 10

// loadTimeout is how long the first Load may take at least: a device may have
// to compile what it runs.
const loadTimeout = time.Minute

// timeouts are the times after which a device whose call has not ended counts as
// lost.
type timeouts struct {
	timeout time.Duration // Config.Timeout
	longest time.Duration // of the steps so far
	only    time.Duration // that a device may take at least where it is the only one
}

// onlyTimeout is timeouts.only where Config.Timeout is not given.
const onlyTimeout = 10 * time.Minute

// took notes how long a step took.
func (l *timeouts) took(d time.Duration) { l.longest = max(l.longest, d) }

// call calls f, which waits for no other device, and gives m up if that takes
// much longer than a step.
func (l *timeouts) call(m *member, f func() error) error { return l.behind(m, 0, 0, f) }

// behind is call where the device has that many calls to end before, and may take least at least.
func (l *timeouts) behind(m *member, calls int, least time.Duration, f func() error) error {
	limit := time.Duration(1+calls) * max(l.timeout+timeoutFactor*l.longest, least)
	silent := fmt.Errorf("did not answer within %v", limit)
	if least > 0 {
		silent = problem.Advise("try again when the machine has less to do, or take smaller batches, a smaller "+
			"model, or other {devices}", "the only device did not answer within %v", limit)
	}
	t := awake.AfterFunc(limit, func() { m.giveUp(silent) })
	defer t.Stop()
	return l.mark(m, f())
}

// load calls f, which loads a program on m, and gives m up if that takes too long.
func (l *timeouts) load(m *member, f func() error) error {
	limit := max(l.timeout, loadTimeout)
	t := awake.AfterFunc(limit, func() { m.giveUp(fmt.Errorf("did not load the model within %v", limit)) })
	defer t.Stop()
	return l.markGone(m, f())
}

// lost marks the error of a member that is gone.
type lost struct {
	member *member
	err    error
}

func (l *lost) Error() string { return l.err.Error() }
func (l *lost) Unwrap() error { return l.err }

// mark wraps an error of m so that recovery knows whom it is about. A device
// that has too little memory for what it did before, or for the replicas of a
// lost one, is of no more use than one that died.
func (l *timeouts) mark(m *member, err error) error {
	if errors.Is(err, device.OutOfMemory) {
		return &lost{m, err}
	}
	return l.markGone(m, err)
}

// markGone is mark where too little memory is an error as others are.
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
