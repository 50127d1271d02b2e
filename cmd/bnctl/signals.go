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

// grace is how long the program may need to end after a signal. While it saves files, it may need longer.
const grace = 8 * time.Second

// patience is how long the program waits for its display to be removed, if it must end at once.
const patience = 100 * time.Millisecond

// logsSignals is set by a command whose log also records that a signal ended it.
var logsSignals atomic.Bool

// withSignals returns a context that ends with the first Ctrl-C, SIGTERM or SIGHUP, or when input ends. A
// second signal, or the end of the grace period, ends the program at once.
func withSignals(ctx context.Context, asJSON bool, stderr io.Writer, input io.Reader) (
	context.Context, func()) {
	return interrupt.Notify(ctx, interrupt.Options{Grace: grace, Until: input,
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

// signalCode returns the exit code for a context that a signal has ended.
func signalCode(ctx context.Context) int {
	if s, ok := interrupt.Cause(ctx); ok {
		return codeOfSignal(s)
	}
	return exitInterrupt
}

// codeOfSignal returns the exit code for a signal. A closed terminal has the code of SIGTERM.
func codeOfSignal(s interrupt.Signal) int {
	if s == interrupt.Signal(syscall.SIGINT) {
		return exitInterrupt
	}
	return exitTerminated
}
