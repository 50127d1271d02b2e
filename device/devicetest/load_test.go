package devicetest

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

// TestLimitOnLoadedMachine checks that a call has a longer limit on an overloaded machine, but
// not on an idle one.
func TestLimitOnLoadedMachine(t *testing.T) {
	defer func(before func() float64) { runnable = before }(runnable)
	const limit = 200 * time.Millisecond
	for _, c := range []struct {
		load float64 // ready threads for each core
		ends time.Duration
	}{{0, limit}, {1, limit}, {8, (1 + maxExtensions) * limit}} {
		runnable = func() float64 { return c.load * float64(runtime.NumCPU()) }
		began := time.Now()
		ctx, cancel := withLimit(t.Context(), limit)
		<-ctx.Done()
		took := time.Since(began)
		if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) || took < c.ends {
			t.Errorf("with load %v a call ended after %v, want %v: %v", c.load, took, c.ends, context.Cause(ctx))
		}
		if c.ends == limit && took > 2*limit {
			t.Logf("this machine is busy: %v", took)
		}
		cancel()
	}
	ctx, cancel := withLimit(t.Context(), time.Hour)
	cancel()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("%v", ctx.Err())
	}
}

// TestTimeoutOnItsLimit checks that a call that ends at its limit counts as a timeout, although
// the error of its context is Canceled.
func TestTimeoutOnItsLimit(t *testing.T) {
	defer func(before func() float64) { runnable = before }(runnable)
	runnable = func() float64 { return 0 }
	k := &clock{limit: 100 * time.Millisecond}
	hang := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	var late *callTimeout
	if err := k.call(t.Context(), "Run", 1, hang); !errors.As(err, &late) || !k.timedOut.Load() {
		t.Errorf("%v; want a timeout", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.call(ctx, "Run", 1, hang); !errors.Is(err, context.Canceled) || errors.As(err, &late) {
		t.Errorf("%v; want the caller's end", err)
	}
}
