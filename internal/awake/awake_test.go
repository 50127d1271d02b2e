package awake

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestClock(t *testing.T) {
	at := time.Unix(0, 0)
	now = func() time.Time { return at }
	defer func() { now = time.Now }()
	c := Start(20 * time.Second)
	if c.Interval() != time.Second {
		t.Errorf("a wait of 20 s is looked at every %v", c.Interval())
	}
	for _, step := range []struct{ gap, want time.Duration }{
		{time.Second, time.Second},
		{3 * time.Second, 4 * time.Second}, // on a busy machine a tick may be late: the gap counts
		{time.Hour, 4 * time.Second},       // the process was stopped: the gap does not count
		{time.Second, 5 * time.Second},
	} {
		at = at.Add(step.gap)
		if got := c.Elapsed(); got != step.want {
			t.Errorf("%v later: %v, want %v", step.gap, got, step.want)
		}
	}
}

// TestTimersInTime checks that timers agree with the system's while the process runs.
func TestTimersInTime(t *testing.T) {
	for _, d := range []time.Duration{0, time.Millisecond, 100 * time.Millisecond, 30 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			ctx, cancel := WithTimeout(context.Background(), d)
			defer cancel()
			if _, has := ctx.Deadline(); has {
				t.Error("the context has a deadline")
			}
			<-ctx.Done()
			if took := time.Since(began); took != d {
				t.Errorf("%v took %v", d, took)
			}
			if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
				t.Errorf("%v: cause %v", d, context.Cause(ctx))
			}
		})
	}
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		timer := AfterFunc(time.Second, func() { t.Error("was called") })
		time.Sleep(999 * time.Millisecond)
		timer.Stop()
		timer.Stop()
		time.Sleep(time.Minute)
		ctx, cancel := WithTimeout(context.Background(), time.Second)
		cancel()
		if !errors.Is(context.Cause(ctx), context.Canceled) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
	})
}
