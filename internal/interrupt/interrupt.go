// Package interrupt ends a program on request: by Ctrl-C, by SIGTERM,
// or by SIGHUP when its terminal closes.
//
// Use it in place of signal.NotifyContext if the program saves something that
// must not be lost, or makes calls that have no context: a decoder of pictures,
// or a read of a disk that does not answer.
package interrupt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Signal is the cause of a context that a signal ended.
type Signal syscall.Signal

// Error returns "stopped by" with the signal's name.
func (s Signal) Error() string { return "stopped by " + s.Name() }

// Name returns the name of the signal for messages: "Ctrl-C" or "SIGTERM".
func (s Signal) Name() string {
	switch syscall.Signal(s) {
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	}
	return "Ctrl-C"
}

// Cause returns the signal that ended ctx, and whether one did.
func Cause(ctx context.Context) (s Signal, ok bool) {
	ok = errors.As(context.Cause(ctx), &s)
	return s, ok
}

// Options control how the program ends. All functions are called from a goroutine of
// Notify.
type Options struct {
	OnFirst  func(Signal) // called for the first signal, before the context ends
	OnSecond func(Signal) // called for a second signal; ends the program at once
	// OnTimeout is called if the program has not ended within Grace of the first signal and nothing is
	// being saved; it ends the program. err reports this, and wraps the Signal.
	OnTimeout func(ctx context.Context, err error)
	Grace     time.Duration
	// Until is an input. Its end has the same effect as a first SIGTERM: for example, the program
	// at the other end of a pipe was killed. If Until is nil, no input is watched.
	Until io.Reader
}

// Notify returns a context that the first signal ends, with a Signal as its cause. A second signal calls
// o.OnSecond, and the end of o.Grace calls o.OnTimeout; both should end the program. The returned function
// also ends the context, and restores the handling of signals.
//
// A SIGHUP that is ignored, as under nohup, stays ignored.
func Notify(ctx context.Context, o Options) (context.Context, func()) {
	saving := &sync.RWMutex{}
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, savingKey{}, saving))
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	ended := endOf(o.Until)
	go func() {
		first := Signal(syscall.SIGTERM)
		select {
		case s := <-signals:
			first = Signal(s.(syscall.Signal))
		case <-ended:
		case <-done:
			return
		}
		o.OnFirst(first)
		cancel(first)
		o.watch(ctx, first, saving, signals, done)
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// endOf returns a channel that is closed at the end of r, or nil without r.
func endOf(r io.Reader) <-chan struct{} {
	if r == nil {
		return nil
	}
	signal.Ignore(syscall.SIGPIPE) // the reader of standard error may have ended too
	ended := make(chan struct{})
	go func() { // the goroutine ends with the program if r has no end
		_, _ = io.Copy(io.Discard, r)
		close(ended)
	}()
	return ended
}

// watch calls the functions of Options for a program that does not end; it returns when done is
// closed.
func (o *Options) watch(ctx context.Context, first Signal, saving *sync.RWMutex, came <-chan os.Signal,
	done <-chan struct{}) {
	deadline := time.After(o.Grace)
	for {
		select {
		case s := <-came:
			o.OnSecond(Signal(s.(syscall.Signal)))
		case <-deadline:
			if saving.TryLock() {
				o.OnTimeout(ctx, fmt.Errorf("%w; what it was doing did not end within %v", first, o.Grace))
			}
			deadline = time.After(time.Second)
		case <-done:
			return
		}
	}
}

type savingKey struct{}

// Saving postpones the call of Options.OnTimeout until the function that it returns is called. ctx
// is the context of Notify or derived from it; with another context Saving does nothing.
func Saving(ctx context.Context) (saved func()) {
	m, ok := ctx.Value(savingKey{}).(*sync.RWMutex)
	if !ok {
		return func() {}
	}
	m.RLock()
	return m.RUnlock
}
