package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/device/starter"
	"github.com/bnctl/bnctl/fleet"
)

func pluginCommand() *cli.Command {
	return &cli.Command{
		Name:  "plugin",
		Usage: "third-party devices: test, add, remove, list, init",
		Description: `A plugin is a program of the name bnctl-device-NAME. It runs with your rights:
the lock guards against change, not against malice.

   bnctl plugin init mine
   bnctl plugin test ./bnctl-device-mine
   bnctl plugin add ./bnctl-device-mine
   bnctl train --devices mine,cpu ...`,
		Subcommands: []*cli.Command{
			pluginTestCommand(),
			{Name: "add", Usage: "look at a plugin and record it in devices.lock", ArgsUsage: "PATH",
				Action:      pluginAdd,
				Description: `   bnctl plugin add ./bnctl-device-mine`},
			{Name: "remove", Usage: "forget a plugin", ArgsUsage: "NAME", Action: pluginRemove,
				Description: `   bnctl plugin remove mine`},
			{Name: "list", Usage: "all plugins that are found or were added", Action: pluginList, Flags: pluginFlags(),
				Description: `   bnctl plugin list`},
			pluginInitCommand(),
		},
	}
}

// pluginProgram returns the only argument of a command, the path of an existing program.
func pluginProgram(c *cli.Context) (string, error) {
	path, err := oneArgument(c, "PATH", "of a program bnctl-device-NAME")
	if err == nil {
		_, err = os.Stat(path)
	}
	return path, err
}

func pluginAdd(c *cli.Context) error {
	path, err := pluginProgram(c)
	if err != nil {
		return err
	}
	a, err := pluginsOf(c).Add(c.Context, path)
	if err == nil {
		reportAdded(outputOf(c), a)
	}
	return err
}

func pluginRemove(c *cli.Context) error {
	name, err := oneArgument(c, "NAME", "of a plugin that was added")
	if err != nil {
		return err
	}
	err = fleet.Remove(name)
	if u := unknownName(err); u != nil {
		return misadvise("bnctl plugin list shows the plugins that were added",
			"plugin %q was not added%s", name, meant(u))
	}
	if err == nil {
		reportPlugin(outputOf(c), fleet.Status{Name: name, State: "removed"},
			"removed %s from %s; its file is where it was", name, remote.LockPath())
	}
	return err
}

func pluginList(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	statuses, err := pluginsOf(c).Statuses()
	if err != nil {
		return err
	}
	o := outputOf(c)
	for _, s := range statuses {
		reportPlugin(o, s, "%-12s  %-8s  %-10s  %s", s.Name, s.State, s.Version, s.Path)
	}
	if len(statuses) == 0 {
		o.note("no plugin in %s", strings.Join(remote.Folders(), ", "))
	}
	return nil
}

func pluginInitCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "write a plugin to start from, in Go",
		ArgsUsage: "NAME",
		Description: `Makes the folder bnctl-device-NAME with a device that computes as the reference
does: correctly, but slowly. You write its kernels; plugin test shows after each one
whether the device is still correct. For other languages see docs/plugins.md.

   bnctl plugin init mine`,
		Action: pluginInit,
	}
}

func pluginInit(c *cli.Context) error {
	name, err := oneArgument(c, "NAME", "of the plugin to be")
	if err != nil {
		return err
	}
	path, err := starter.Write("", name)
	if err == nil {
		program, checkout := filepath.Dir(path), ""
		if !starter.IsInCheckout("") {
			checkout = "\n   go mod edit -replace " + starter.Module +
				"=PATH   (of a checkout, unless you use a release)"
		}
		reportPlugin(outputOf(c), fleet.Status{Name: name, Path: path, State: "written"}, `wrote %s; from here on:
   cd %s%s
   go mod tidy && go build
   bnctl plugin test ./%s`, path, program, checkout, program)
	}
	return err
}
