//go:build unix

package main

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/bnctl/bnctl/internal/interrupt"
)

// stuck is a program for scripts. It sends a signal to itself, and continues with work that does not end with
// the context. With the argument "saving" it first saves something.
func stuck() {
	ctx, stop := withSignals(context.Background(), false, os.Stderr, nil)
	defer stop()
	saved := func() {}
	if os.Args[1] == "saving" {
		saved = interrupt.Saving(ctx)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		panic(err)
	}
	time.Sleep(grace + 2*time.Second)
	os.Stdout.WriteString("saved\n")
	saved()
	time.Sleep(time.Minute)
}
