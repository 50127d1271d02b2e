package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/reproduce"
	"github.com/bnctl/bnctl/fleet"
)

func reproduceCommand() *cli.Command {
	flags := slices.Concat(fileFlags(), preprocessFlags()[:3], []cli.Flag{labelsFlag()}, runningFlags())
	// without the flags exif and interpolation, because the recipe has their values
	return reproduce.Command(reproduce.Host{Flags: flags, File: modelOptions, Sick: sick,
		Fleet: func(c *cli.Context) (fleet.Options, error) { return fleetOptions(c, "", noLimit) },
		Output: func(c *cli.Context) reproduce.Output {
			o := outputOf(c)
			return reproduce.Output{Result: o.result, Event: o.event, Note: o.noteOptions,
				Wrote: func(files []string) { reportWritten(o, files) }}
		}})
}
