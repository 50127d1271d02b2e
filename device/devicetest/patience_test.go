package devicetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
)

// TestPatience checks that a case that does not end is abandoned after the time set by WithPatience.
func TestPatience(t *testing.T) {
	c := Case{Run: func(context.Context, Opener) error { select {} }}
	ctx := WithPatience(t.Context(), 20*time.Millisecond)
	if err := c.Judge(ctx, openRef, device.F32).Err; err == nil || !strings.Contains(err.Error(), "hangs") {
		t.Errorf("a case that hangs: %v", err)
	}
}
