package main

import (
	"context"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/golden"
	"github.com/bnctl/bnctl/device/conformance"
	"github.com/bnctl/bnctl/device/remote"
)

// golden returns the output for reports of golden vectors.
func (o *output) golden() golden.Output {
	return golden.Output{Result: o.result, Event: o.event, Verbose: o.verbose}
}

// runVectors returns a function in place of judgePlugin. It runs the golden vectors of a folder.
func runVectors(folder string) func(context.Context, *output, remote.Command, conformance.Options) (int,
	error) {
	return func(ctx context.Context, o *output, command remote.Command, options conformance.Options) (int,
		error) {
		return golden.Plugin(ctx, command, options, folder, o.golden())
	}
}
