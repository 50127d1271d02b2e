//go:build unix

package main

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/bnctl/bnctl/internal/interrupt"
)

// stuck is a program for scripts: it is told to stop, by itself, and goes on
// with what knows no context. With "saving" it saves something first.
func stuck() {
	ctx, stop := withSignals(context.Background(), false, os.Stderr)
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
