package lifecycle

import (
	"context"
	"errors"
	"testing"

	"github.com/bnctl/bnctl/device"
)

// TestCallsEndWithTheDevice checks that close ends the call in progress and waits for it, and that
// no call begins after close.
func TestCallsEndWithTheDevice(t *testing.T) {
	c := newCalls("mine")
	ctx, done, err := c.begin(t.Context(), "Run")
	if err != nil {
		t.Fatal(err)
	}
	freed := make(chan bool)
	go c.close(func() { close(freed) })
	<-ctx.Done()
	select {
	case <-freed:
		t.Error("freed while the call was under way")
	default:
	}
	done()
	<-freed
	if _, _, err := c.begin(t.Context(), "Run"); !errors.Is(err, device.Invalid) {
		t.Errorf("a call of a closed device: %v, want %v", err, device.Invalid)
	}
	c.close(func() {})
}

// TestCallsOfAnEndedContext checks that a call with an ended context does not begin, and that the
// next call can begin.
func TestCallsOfAnEndedContext(t *testing.T) {
	c := newCalls("mine")
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := c.begin(ended, "Read"); !errors.Is(err, device.Canceled) {
		t.Errorf("%v, want %v", err, device.Canceled)
	}
	_, done, err := c.begin(t.Context(), "Read")
	if err != nil {
		t.Fatal(err)
	}
	done()
}
