package devicetest

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// If the machine has many more ready threads than cores, a slow call does not mean that the device
// hangs. The limit of a call is then extended, up to maxExtensions times.
const (
	maxExtensions = 3
	overload      = 1.5 // ready threads for each core
	loadSamples   = 20  // number of samples in a limit
	loadFile      = "/proc/loadavg"
)

// runnable returns the number of ready threads of the machine; 0 if it is unknown. It is a
// variable for tests.
var runnable = func() float64 {
	b, err := os.ReadFile(loadFile)
	fields := strings.Fields(string(b))
	if err != nil || len(fields) < 4 {
		return 0
	}
	running, _, _ := strings.Cut(fields[3], "/")
	n, _ := strconv.ParseFloat(running, 64)
	return n
}

// withLimit returns a context that ends after limit, or later if the machine is overloaded.
// Its cause is context.DeadlineExceeded. A limit set by WithPatience is not extended.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if ctx.Value(patienceKey{}) != nil {
		return context.WithTimeout(ctx, limit)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := make(chan struct{})
	go func() {
		tick := time.NewTicker(max(limit/loadSamples, time.Millisecond))
		defer tick.Stop()
		began, sum, samples := time.Now(), 0.0, 0.0
		for extensions := 0; ; {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			sum, samples = sum+runnable(), samples+1
			if time.Since(began) < limit {
				continue
			}
			if sum/samples < overload*float64(runtime.NumCPU()) || extensions == maxExtensions {
				cancel(context.DeadlineExceeded)
				return
			}
			extensions++
			began, sum, samples = time.Now(), 0, 0
		}
	}()
	var once sync.Once
	return ctx, func() {
		once.Do(func() { close(stop) })
		cancel(context.Canceled)
	}
}
