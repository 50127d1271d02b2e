package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/reproduce"
	"github.com/bnctl/bnctl/fleet"
)

func reproduceCommand() *cli.Command {
	return reproduce.Command(reproduce.Host{Flags: runningFlags(), Sick: sick,
		Fleet: func(c *cli.Context) (fleet.Options, error) { return fleetOptions(c, "", noLimit) },
		Output: func(c *cli.Context) reproduce.Output {
			o := outputOf(c)
			return reproduce.Output{Result: o.result, Event: o.event, Note: o.noteOptions,
				Wrote: func(files []string) { reportWritten(o, files) }}
		}})
}
