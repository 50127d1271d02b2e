package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/fleet"
)

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "the release; with --verbose commit, Go, kernels and devices, for a report",
		Description: `   bnctl version
   bnctl version --verbose
   bnctl version --json`,
		Flags: append([]cli.Flag{&cli.BoolFlag{Name: "verbose",
			Usage: "commit, Go, and each device with its kernels"}}, pluginFlags()...),
		Action: versionAction,
	}
}

func versionAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	var devices []fleet.Description
	if c.Bool("verbose") || c.Bool("json") {
		plugins := pluginsOf(c)
		names, err := plugins.Names()
		if err != nil {
			return err
		}
		for _, name := range names {
			for _, l := range plugins.List(c.Context, name) {
				devices = append(devices, l.Description())
			}
		}
	}
	reportVersion(outputOf(c), c.Bool("verbose"), devices)
	return c.Context.Err()
}
