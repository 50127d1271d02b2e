package main

import (
	"context"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/plugins/cpu"
)

// serveWord is the argument with which bnctl starts itself as the process of
// a built-in plugin.
const serveWord = "serve-device"

// servePlugin serves a built-in plugin if the command line asks for that.
func servePlugin(args []string) (code int, served bool) {
	if len(args) != 3 || args[1] != serveWord || args[2] != "cpu" {
		return 0, false
	}
	cpu.Main()
	return exitDone, true
}

// provider is a device.Provider that may have processes to end.
type provider interface {
	device.Provider
	// OpenAs is Open with the name that errors call the device by.
	OpenAs(ctx context.Context, name, id string, o device.Options) (device.Device, error)
	Close() error
}

// refProvider is device/ref in process.
type refProvider struct{ ref.Provider }

func (p refProvider) OpenAs(ctx context.Context, _, id string, o device.Options) (device.Device, error) {
	return p.Open(ctx, id, o)
}

func (refProvider) Close() error { return nil }

// openProvider returns the provider of the plugin with that name.
func openProvider(ctx context.Context, c *cli.Context, name string) (provider, error) {
	switch name {
	case "ref":
		return refProvider{}, nil
	case "cpu":
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		cmd := remote.Command{Name: "cpu", Path: self, Args: []string{serveWord, "cpu"}}
		return remote.Start(ctx, command(c, cmd))
	}
	found, err := findPlugin(c, name)
	if err != nil {
		return nil, err
	}
	return remote.Start(ctx, command(c, found))
}

// command adds to a command what the flags say.
func command(c *cli.Context, cmd remote.Command) remote.Command {
	if l := c.StringSlice("level"); len(l) > 0 {
		cmd.Levels = l
	}
	if c.Bool("v") {
		cmd.Log = func(line string) { fmt.Fprintln(c.App.ErrWriter, legibly("%s: %s", cmd.Name, line)) }
	}
	return cmd
}
