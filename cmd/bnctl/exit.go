package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/problem"
)

// Exit codes. They are part of the contract of the command line.
const (
	exitDone       = 0
	exitFailed     = 1
	exitMisused    = 2
	exitSick       = 3
	exitInterrupt  = 130
	exitTerminated = 143
)

// sickError is the error of a command that has run and has found that a model or a device is not healthy.
type sickError struct{ error }

// Unwrap returns the underlying error.
func (e sickError) Unwrap() error { return e.error }

// sick returns a sickError with advice.
func sick(advice, format string, args ...any) error {
	return sickError{problem.Advise(advice, format, args...)}
}

// code returns the exit code for err.
func code(ctx context.Context, err error) int {
	var s sickError
	ranks, together := codeOfRanks(ctx, err)
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &s):
		return exitSick
	case problem.IsMisuse(err):
		return exitMisused
	case together:
		return ranks
	case ctx.Err() != nil:
		return signalCode(ctx)
	}
	return exitFailed
}

// report prints err, and returns its exit code.
func report(ctx context.Context, err error, asJSON bool, stderr io.Writer) int {
	c := code(ctx, err)
	if err == nil {
		return c
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	if asJSON {
		line, _ := json.Marshal(errorLine(err))
		fmt.Fprintln(stderr, string(line))
		return c
	}
	text := legible.Short(strings.TrimPrefix(asFlags(err).Error(), rankName())) // err may be about this rank
	fmt.Fprintln(stderr, legible.Sprintf("bnctl: %s%v", rankName(), lines(strings.ReplaceAll(text, "\n",
		"\n   "))))
	return c
}

// errorEvent is an error as --json prints it.
type errorEvent struct {
	Event  string `json:"event"`
	Schema int    `json:"schema"`
	Error  string `json:"error"`
	Kind   string `json:"kind"`
	Device string `json:"device,omitempty"`
	Where  string `json:"where,omitempty"`
	Advice string `json:"advice,omitempty"`
}

// errorLine returns an error divided into its parts, for --json.
func errorLine(err error) errorEvent {
	e := errorEvent{Event: "error", Schema: 1, Error: asFlags(err).Error(), Kind: device.KindOf(err).Error()}
	var d *device.Error
	if errors.As(err, &d) {
		e.Device, e.Where = d.Device, d.Call
	}
	if _, e.Advice = problem.Split(err); e.Advice != "" {
		e.Advice = inFlags(e.Advice)
		e.Error = strings.TrimSuffix(e.Error, "; "+e.Advice)
	} else if u := unknownName(err); u != nil {
		e.Advice = whereNames(u)
		e.Error = strings.TrimSuffix(e.Error, "; "+e.Advice)
	}
	e.Error, e.Advice = legible.Short(e.Error), legible.Short(e.Advice)
	return e
}
