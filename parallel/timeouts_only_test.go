package parallel

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/problem"
)

// TestOnlyDeviceMayBeSlow: the only device of a run has a longer limit than the timeout.
func TestOnlyDeviceMayBeSlow(t *testing.T) {
	g := opened(t, refs(t, 1), Config{}).group
	if g.timeouts.minimum != onlyTimeout {
		t.Errorf("the only device may take %v, want %v", g.timeouts.minimum, onlyTimeout)
	}
	g.timeouts.timeout = 20 * time.Millisecond
	slow := func(_ int, m *member) error {
		time.Sleep(300 * time.Millisecond)
		return context.Cause(t.Context())
	}
	if err := g.eachAlone(slow); err != nil || g.members[0].hung.Load() {
		t.Errorf("%v, given up: %v", err, g.members[0].hung.Load())
	}
	g.timeouts.minimum = 20 * time.Millisecond
	_, advice := problem.Split(g.eachAlone(func(_ int, m *member) error {
		time.Sleep(time.Second)
		return errPlanted
	}))
	const text = "ref0: Run: lost: the only device did not answer within 20ms"
	if err := g.eachAlone(func(int, *member) error { return errPlanted }); err == nil ||
		!strings.HasPrefix(err.Error(), text) || !strings.Contains(advice, "{devices}") {
		t.Errorf("%v, advice %q, want %s", err, advice, text)
	}
	given := opened(t, refs(t, 1), Config{Timeout: time.Minute}).group
	if given.timeouts.minimum != 0 {
		t.Errorf("with a time-out that is given the only device may take %v, want no more than that",
			given.timeouts.minimum)
	}
}
