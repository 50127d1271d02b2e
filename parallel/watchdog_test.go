package parallel

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// meets is an exchange with a state that the test sets.
type meets struct {
	mu        sync.Mutex
	missing   []int
	exchanges int
}

func (m *meets) Missing() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.missing
}

func (m *meets) Exchanges() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.exchanges
}

func (m *meets) Abort(error) {}

// watched returns members that record when they are given up.
func watched(n int) (ms members) {
	for range n {
		ms = append(ms, &member{Member: Member{Device: &closing{}}})
	}
	return ms
}

// A member is late if others wait for it: it has not reached an exchange, or it runs while another is
// done. All members are late if they need more than ten times the longest step. Any progress changes
// the text that overdue returns.
func TestWhoIsLate(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name        string
		missing     []int
		done        []int
		longest, at time.Duration
		late        []int
	}{
		{"nobody", nil, nil, 0, time.Hour, nil},
		{"who has not come", []int{1}, []int{0}, 0, 0, []int{1}},
		{"other ranks", []int{}, nil, s, time.Hour, nil},
		{"who runs beside one that is done", nil, []int{1}, 0, 0, []int{0, 2}},
		{"all take ten times as long", nil, nil, s, 10 * s, nil},
		{"all take longer than that", nil, nil, s, 10*s + 1, []int{0, 1, 2}},
	} {
		hub := &meets{missing: c.missing}
		w := &watchdog{members: watched(3), hub: hub, done: make([]atomic.Bool, 3), longest: c.longest}
		for _, rank := range c.done {
			w.finished(rank)
		}
		overdue, was := w.overdue(c.at)
		if !slices.Equal(overdue, c.late) {
			t.Errorf("%s: %v are late, want %v", c.name, overdue, c.late)
		}
		for i, change := range []func(){func() {}, func() { hub.exchanges++ }, func() { w.chunksDone.Add(1) },
			func() { w.finished(2) }, func() { hub.missing = []int{0, 2} }} {
			change()
			if _, picture := w.overdue(c.at); (picture == was) != (i == 0) {
				t.Errorf("%s: after change %d: %q was %q", c.name, i, picture, was)
			} else {
				was = picture
			}
		}
	}
}

// A device is given up when it has kept others waiting for the timeout since the last progress, at
// most a twentieth of the timeout later. Devices that wait are not given up.
func TestGivenUpInTime(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		progress time.Duration // time of the last progress
		want     time.Duration
	}{{0, 21 * s}, {45*s + s/2, 66 * s}} {
		synctest.Test(t, func(t *testing.T) {
			hub, ms, began := &meets{missing: []int{1}}, watched(2), time.Now()
			w := (&timeouts{timeout: 20 * s}).watch(ms, hub)
			defer w.stop()
			for at := 15*s + s/2; at <= c.progress; at += 15 * s {
				time.Sleep(at - time.Since(began))
				hub.mu.Lock()
				hub.exchanges++
				hub.mu.Unlock()
			}
			time.Sleep(c.want - time.Since(began) - 1)
			if synctest.Wait(); ms[1].hung.Load() {
				t.Errorf("given up within %v", c.want)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if !ms[1].hung.Load() || ms[1].Device.(*closing).closed != 1 || ms[0].hung.Load() {
				t.Errorf("not given up after %v, or another: %v", c.want, ms[0].hung.Load())
			}
			if took := w.elapsed(); took != c.want {
				t.Errorf("the run has taken %v, want %v", took, c.want)
			}
		})
	}
}

// beyond is an exchange at which all members wait for other ranks.
type beyond struct{}

func (beyond) Missing() []int { return []int{} }
func (beyond) Exchanges() int { return 0 }
func (beyond) Abort(error)    {}

// TestWaitsForOtherRanksAreNoSteps: a run lasts long while another rank replaces a device.
// That must not extend the time limit of the devices of this rank tenfold.
func TestWaitsForOtherRanksAreNoSteps(t *testing.T) { synctest.Test(t, waitsForOtherRanks) }

func waitsForOtherRanks(t *testing.T) {
	l := &timeouts{timeout: 20 * time.Millisecond}
	w := l.watch(nil, beyond{})
	for w.clock.Elapsed() < 500*time.Millisecond {
		time.Sleep(w.clock.Interval())
	}
	if got := w.elapsed(); got > w.clock.Interval() || got < 0 {
		t.Errorf("the run has taken %v of %v by itself, want next to nothing", got, w.clock.Elapsed())
	}
	w.stop()
}
