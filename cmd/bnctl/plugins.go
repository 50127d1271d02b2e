package main

import (
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device/remote"
)

// findPlugins lists the plugins that could be started, with those of --device-plugin.
func findPlugins(c *cli.Context) ([]remote.Found, error) {
	return remote.Find(c.StringSlice("device-plugin")...)
}

// named reports whether a plugin has a name.
func named(name string) func(remote.Found) bool {
	return func(f remote.Found) bool { return f.Name == name }
}

// findPlugin returns how the plugin of that name is started, once it is known
// that it is the one that was added.
func findPlugin(c *cli.Context, name string) (remote.Command, error) {
	all, err := findPlugins(c)
	if err != nil {
		return remote.Command{}, err
	}
	if i := slices.IndexFunc(all, named(name)); i >= 0 {
		cmd, err := all[i].Command(c.Bool("allow-unlocked"))
		if errors.Is(err, remote.ErrUnlocked) {
			err = misuseError{err}
		}
		return cmd, err
	}
	if name == "cuda" {
		return remote.Command{}, errors.New("the plugin bnctl-device-cuda does not lie beside bnctl; " +
			"build it with make build, or use --devices cpu")
	}
	known := []string{"cpu", "cuda", "ref", "auto"}
	for _, f := range all {
		known = append(known, f.Name)
	}
	return remote.Command{}, misuse("unknown device %q%s; bnctl devices list shows what is there",
		name, nearest(name, known))
}
