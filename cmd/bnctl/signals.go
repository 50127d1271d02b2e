package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/bnctl/bnctl/internal/interrupt"
	"github.com/bnctl/bnctl/internal/waiting"
)

// grace is the time that a program has to end after a signal, unless it is saving.
const grace = 8 * time.Second

// patience is the longest time that a program that ends at once waits for its display.
const patience = 100 * time.Millisecond

// logsSignals is set by a command that writes a log, which also records its end.
var logsSignals atomic.Bool

// withSignals returns a context that ends with the first Ctrl-C, SIGTERM or SIGHUP. A second one stops the
// program at once, and so does the end of the time grace. The end of the input until has the effect of a
// SIGTERM.
func withSignals(ctx context.Context, asJSON bool, stderr io.Writer, until io.Reader) (
	context.Context, func()) {
	return interrupt.Notify(ctx, interrupt.Options{Grace: grace, Until: until,
		OnFirst: func(s interrupt.Signal) {
			if rankName() == "" && !logsSignals.Load() {
				waiting.Above(stderr, func() {
					fmt.Fprintf(stderr, "bnctl: %s: finishing the present work; once more stops at once\n", s.Name())
				})
			}
		},
		OnSecond: func(s interrupt.Signal) {
			waiting.Leave(stderr, patience)
			os.Exit(codeOfSignal(s))
		},
		OnTimeout: func(ctx context.Context, err error) {
			waiting.Leave(stderr, patience)
			os.Exit(report(ctx, err, asJSON, stderr))
		},
	})
}

// signalCode returns the exit code of a context that ended.
func signalCode(ctx context.Context) int {
	if s, ok := interrupt.Cause(ctx); ok {
		return codeOfSignal(s)
	}
	return exitInterrupt
}

// codeOfSignal returns the exit code after s: a terminal that was closed is a stop like SIGTERM.
func codeOfSignal(s interrupt.Signal) int {
	if s == interrupt.Signal(syscall.SIGINT) {
		return exitInterrupt
	}
	return exitTerminated
}
