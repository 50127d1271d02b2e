package lifecycle

import (
	"context"
	"errors"
	"testing"

	"github.com/bnctl/bnctl/device"
)

// Close ends the call in progress and waits for it, and no call begins after it.
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

// A call with a context that has ended does not begin, and the next call can.
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
