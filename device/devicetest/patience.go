package devicetest

import (
	"context"
	"time"
)

type patienceKey struct{}

// WithPatience returns a context that sets the time limit of a case, or of a call that is measured.
// After the time d, instead of a minute, the device counts as hanging. It is for simulated devices.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

func patienceOf(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(patienceKey{}).(time.Duration); ok {
		return d
	}
	return time.Minute
}
