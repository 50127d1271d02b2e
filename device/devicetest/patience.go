package devicetest

import (
	"context"
	"time"
)

type patienceKey struct{}

// WithPatience returns a context in which a case may take so long before the device
// is said to hang, in place of a minute: for a device that is simulated.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

func patienceOf(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(patienceKey{}).(time.Duration); ok {
		return d
	}
	return time.Minute
}
