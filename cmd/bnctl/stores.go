package main

import (
	"cmp"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/stores"
	"github.com/bnctl/bnctl/modelfile"
)

// These functions are about files on other machines. storeFlags are global flags. openStores makes this
// process able to open URLs. visible returns arguments with URLs in the form that may be printed. withURLs
// returns messages with URLs in place of paths in the cache. mirrorModels copies models at URLs for the
// server, and keeps the copies up to date.
var (
	storeFlags, openStores, mirrorModels = stores.Flags, stores.Install, stores.Mirror
	visible, withURLs, notesWithURLs     = stores.Visible, stores.Printed, stores.Notes
)

// storeCommands returns those subcommands of models that are about files on other machines.
func storeCommands() []*cli.Command { return stores.Commands(storesOutput) }

func storesOutput(c *cli.Context) stores.Output {
	o := outputOf(c)
	return stores.Output{Result: o.result, Event: o.event}
}

// completeWeights sets the options that were published with the weights of --init, or of the model, unless a
// flag sets them.
func completeWeights(c *cli.Context, o *modelfile.Options) error {
	if source := c.String("init"); source != "" {
		return stores.Complete(o, source, false)
	}
	return stores.Complete(o, cmp.Or(c.Args().First(), c.String("model")), true)
}
