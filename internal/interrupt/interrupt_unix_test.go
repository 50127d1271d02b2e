//go:build unix

package interrupt

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestNotify checks that the first signal ends the context and is its cause, that the
// second one is distinguished, and that a late program ends only when nothing is being
// saved.
func TestNotify(t *testing.T) {
	first, again, late := make(chan Signal, 1), make(chan Signal, 1), make(chan error, 9)
	ctx, stop := Notify(context.Background(), Options{
		Grace:     50 * time.Millisecond,
		OnFirst:   func(s Signal) { first <- s },
		OnSecond:  func(s Signal) { again <- s },
		OnTimeout: func(_ context.Context, err error) { late <- err },
	})
	defer stop()
	saved := Saving(ctx)
	tell(t, syscall.SIGTERM)
	<-ctx.Done()
	if s := <-first; s.Name() != "SIGTERM" {
		t.Error(s)
	}
	if s, ok := Cause(ctx); !ok || s != Signal(syscall.SIGTERM) {
		t.Error(s, ok)
	}
	tell(t, syscall.SIGINT)
	if s := <-again; s.Error() != "stopped by Ctrl-C" {
		t.Error(s)
	}
	select {
	case err := <-late:
		t.Error("ended while it saved: ", err)
	case <-time.After(200 * time.Millisecond):
	}
	saved()
	if err := <-late; !errors.Is(err, Signal(syscall.SIGTERM)) {
		t.Error(err)
	}
}

// TestStop: a context that its program ended has no signal as its cause.
func TestStop(t *testing.T) {
	ctx, stop := Notify(context.Background(), Options{})
	stop()
	if _, ok := Cause(ctx); ok || ctx.Err() == nil {
		t.Error(ok, ctx.Err())
	}
	Saving(context.Background())()
}

func tell(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(syscall.Getpid(), s); err != nil {
		t.Fatal(err)
	}
}

// TestUntil: the end of the input has the effect of a first SIGTERM. After a signal it has no effect.
func TestUntil(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	first, second := make(chan Signal, 1), make(chan Signal, 1)
	ctx, stop := Notify(context.Background(), Options{Grace: time.Hour, Until: in,
		OnFirst: func(s Signal) { first <- s }, OnSecond: func(s Signal) { second <- s }})
	defer stop()
	if _, err := out.WriteString("not the end\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
		t.Fatal("ended before its input")
	case <-time.After(50 * time.Millisecond):
	}
	out.Close()
	<-ctx.Done()
	if s := <-first; s != Signal(syscall.SIGTERM) {
		t.Error(s)
	}
	select {
	case s := <-second:
		t.Error("the end of the input is a second signal: ", s)
	case <-time.After(50 * time.Millisecond):
	}
	tell(t, syscall.SIGTERM)
	<-second
}
