package main

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

// signaled is the cause of a context that a signal ended.
type signaled struct{ signal syscall.Signal }

func (s signaled) Error() string { return "stopped by " + s.name() }

func (s signaled) name() string {
	switch s.signal {
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	}
	return "Ctrl-C"
}

// code is the exit code after the signal: a terminal that was closed is a stop like SIGTERM.
func (s signaled) code() int {
	if s.signal == syscall.SIGINT {
		return exitInterrupt
	}
	return exitTerminated
}

// grace is how long a program that was told to stop may take, unless it keeps
// what would be lost: a decoder of pictures, or a disk that does not answer,
// knows no context.
const grace = 8 * time.Second

// withSignals returns a context that the first Ctrl-C, SIGTERM or SIGHUP ends.
// The second stops the program at once; so does time.
func withSignals(ctx context.Context, asJSON bool, stderr io.Writer) (context.Context, func()) {
	saving := &sync.RWMutex{}
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, savingKey{}, saving))
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // it is by nohup, to let the program go on
		signal.Notify(ch, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		var cause signaled
		select {
		case s := <-ch:
			cause = signaled{s.(syscall.Signal)}
			if rankName() == "" {
				fmt.Fprintf(stderr, "bnctl: %s: finishing the step; once more stops at once\n", cause.name())
			}
			cancel(cause)
		case <-done:
			return
		}
		late := time.After(grace)
		for {
			select {
			case s := <-ch:
				os.Exit(signaled{s.(syscall.Signal)}.code())
			case <-late:
				if saving.TryLock() {
					err := fmt.Errorf("%w; what it was doing did not end within %v", cause, grace)
					os.Exit(report(ctx, err, asJSON, stderr))
				}
				late = time.After(time.Second)
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(done)
		cancel(nil)
	}
}

type savingKey struct{}

// saving keeps a program that was told to stop from being ended before what it
// saves is saved: until the function that it returns is called.
func saving(ctx context.Context) (saved func()) {
	m, ok := ctx.Value(savingKey{}).(*sync.RWMutex)
	if !ok {
		return func() {}
	}
	m.RLock()
	return m.RUnlock
}

// signalCode returns the exit code of a context that ended.
func signalCode(ctx context.Context) int {
	var s signaled
	if errors.As(context.Cause(ctx), &s) {
		return s.code()
	}
	return exitInterrupt
}
