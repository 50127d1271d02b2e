package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/build"
	versions "github.com/bnctl/bnctl/cmd/bnctl/internal/version"
)

func version() string { return build.Version() }

func versionCommand() *cli.Command {
	command := versions.Command(versions.Host{Flags: pluginFlags(), Plugins: pluginsOf,
		Output: func(c *cli.Context) versions.Output {
			o := outputOf(c)
			return versions.Output{Result: o.result, Event: o.event, InFlags: inFlags, JSON: o.json}
		}})
	action := command.Action
	command.Action = func(c *cli.Context) error {
		if err := noArguments(c); err != nil {
			return err
		}
		return action(c)
	}
	return command
}
