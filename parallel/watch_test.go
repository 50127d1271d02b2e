package parallel

import (
	"testing"
	"time"
)

// beyond is a meeting whose members all wait for other ranks.
type beyond struct{}

func (beyond) Missing() []int { return []int{} }
func (beyond) Exchanges() int { return 0 }
func (beyond) Abort(error)    {}

// TestWaitsForOtherRanksAreNoSteps: while another rank replaces a device a run takes
// long, and a device of this one may not take ten times that from then on.
func TestWaitsForOtherRanksAreNoSteps(t *testing.T) {
	l := &limits{timeout: 20 * time.Millisecond}
	w := l.watch(nil, beyond{})
	for w.clock.Elapsed() < 500*time.Millisecond {
		time.Sleep(w.clock.Interval())
	}
	if got := w.elapsed(); got > 250*time.Millisecond {
		t.Errorf("the run has taken %v of %v by itself, want next to nothing", got, w.clock.Elapsed())
	}
	w.stop()
}
