package serve

import (
	"context"
	"testing"
)

// TestCancel cancels calls before, during and after their execution.
func TestCancel(t *testing.T) {
	var c calls
	c.cancel(2) // Cancel arrives before call 2
	ctx, end := c.begin(context.Background(), 1)
	if ctx.Err() == nil {
		t.Error("call 1 goes on although call 2 was cancelled")
	}
	end()
	if ctx, end = c.begin(context.Background(), 2); ctx.Err() == nil {
		t.Error("call 2 goes on although it was cancelled before it began")
	}
	end()
	if ctx, end = c.begin(context.Background(), 3); ctx.Err() != nil {
		t.Error("call 3 has ended although call 2 was cancelled")
	}
	c.cancel(2) // too late: call 2 has ended
	if ctx.Err() != nil {
		t.Error("call 3 has ended by a late cancel of call 2")
	}
	c.cancel(3)
	if ctx.Err() == nil {
		t.Error("call 3 goes on although it was cancelled")
	}
	end()
	if got := c.current(); got != 3 {
		t.Errorf("the current call is %d, want 3", got)
	}
}
