package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// signaled is the cause of a context that a signal ended.
type signaled struct{ signal syscall.Signal }

func (s signaled) Error() string { return "stopped by " + s.name() }

func (s signaled) name() string {
	if s.signal == syscall.SIGTERM {
		return "SIGTERM"
	}
	return "Ctrl-C"
}

// withSignals returns a context that the first Ctrl-C or SIGTERM ends. The
// second stops the program at once.
func withSignals(ctx context.Context, stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-ch:
			cause := signaled{s.(syscall.Signal)}
			fmt.Fprintf(stderr, "bnctl: %s: finishing the step; once more stops at once\n", cause.name())
			cancel(cause)
		case <-done:
			return
		}
		select {
		case s := <-ch:
			os.Exit(128 + int(s.(syscall.Signal)))
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(done)
		cancel(nil)
	}
}

// signalCode returns the exit code of a context that ended.
func signalCode(ctx context.Context) int {
	var s signaled
	if errors.As(context.Cause(ctx), &s) && s.signal == syscall.SIGTERM {
		return exitTerminated
	}
	return exitInterrupt
}
