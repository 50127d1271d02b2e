package main

import (
	"context"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/demo"
)

// showDemo runs the demo with the given program, and prints its results.
func showDemo(ctx context.Context, o *output, program, folder string) error {
	r, err := demo.Run(ctx, demo.Options{Program: program, Folder: folder, Say: o.result, Line: o.line})
	if r != nil {
		o.event("demo", r)
	}
	return err
}
