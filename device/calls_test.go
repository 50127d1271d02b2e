package device

import (
	"context"
	"errors"
	"testing"
)

// Close ends the call under way, waits for it, and no call begins after it.
func TestCallsEndWithTheDevice(t *testing.T) {
	c := NewCalls("mine")
	ctx, done, err := c.Begin(t.Context(), "Run")
	if err != nil {
		t.Fatal(err)
	}
	freed := make(chan bool)
	go c.Close(func() { close(freed) })
	<-ctx.Done()
	select {
	case <-freed:
		t.Error("freed while the call was under way")
	default:
	}
	done()
	<-freed
	if _, _, err := c.Begin(t.Context(), "Run"); !errors.Is(err, Invalid) {
		t.Errorf("a call of a closed device: %v, want %v", err, Invalid)
	}
	c.Close(func() {})
}

// A call whose context has ended does not begin, and the next one can.
func TestCallsOfAnEndedContext(t *testing.T) {
	c := NewCalls("mine")
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := c.Begin(ended, "Read"); !errors.Is(err, Canceled) {
		t.Errorf("%v, want %v", err, Canceled)
	}
	_, done, err := c.Begin(t.Context(), "Read")
	if err != nil {
		t.Fatal(err)
	}
	done()
}
