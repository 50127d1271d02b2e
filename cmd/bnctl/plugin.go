package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device/remote"
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

// pluginEvent is a line of plugin add, remove, list and init with --json.
type pluginEvent struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Version  string `json:"version,omitempty"`
	Protocol int    `json:"protocol,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
	State    string `json:"state"` // own, locked, changed, unlocked, missing, removed, runs, written
}

// startUnlocked starts the plugin at path as it is.
func startUnlocked(c *cli.Context, path string) (*remote.Plugin, remote.Command, error) {
	return pluginsOf(c).StartUnlocked(c.Context, path)
}

func pluginAdd(c *cli.Context) error {
	path, err := oneArgument(c, "PATH", "of a program bnctl-device-NAME")
	if err != nil {
		return err
	}
	p, _, err := startUnlocked(c, path)
	if err != nil {
		return err
	}
	defer p.Close()
	about := p.Describe()
	list, reason, err := p.List(c.Context)
	if err != nil {
		return err
	}
	row, err := p.Locked()
	if err != nil {
		return err
	}
	l, err := remote.ReadLock()
	if err != nil {
		return err
	}
	if err := l.With(row).Write(); err != nil {
		return err
	}
	o := outputOf(c)
	o.event("plugin", pluginEvent{row.Name, row.Path, row.Version, row.Protocol, row.SHA256, "locked"})
	o.result("%s %s: %s", about.Name, about.Version, about.About)
	for i, d := range list {
		o.result("   %s  %s", fleet.ShortName(row.Name, i, len(list)), d.Description)
	}
	if len(list) == 0 {
		o.result("   no device: %s", reason)
	}
	o.result("added to %s with sha256 %s; use it with --devices %s", remote.LockPath(), row.SHA256, row.Name)
	return nil
}

func pluginRemove(c *cli.Context) error {
	name, err := oneArgument(c, "NAME", "of a plugin that was added")
	if err != nil {
		return err
	}
	l, err := remote.ReadLock()
	if err != nil {
		return err
	}
	rest := l.Without(name)
	if len(rest) == len(l) {
		var names []string
		for _, x := range l {
			names = append(names, x.Name)
		}
		return misuse("plugin %q was not added%s; bnctl plugin list shows what was", name, nearest(name, names))
	}
	if err := rest.Write(); err != nil {
		return err
	}
	o := outputOf(c)
	o.event("plugin", pluginEvent{Name: name, State: "removed"})
	o.result("removed %s from %s; its file is where it was", name, remote.LockPath())
	return nil
}

func pluginList(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	found, err := pluginsOf(c).Find()
	if err != nil {
		return err
	}
	l, err := remote.ReadLock()
	if err != nil {
		return err
	}
	o := outputOf(c)
	for _, f := range found {
		e := event(f, l)
		o.event("plugin", e)
		o.result("%-12s  %-8s  %-10s  %s", e.Name, e.State, e.Version, e.Path)
	}
	if len(found) == 0 {
		o.note("no plugin in %s", strings.Join(remote.Folders(), ", "))
	}
	return nil
}

// event compares f with the lock.
func event(f remote.Found, l remote.Lock) pluginEvent {
	e := pluginEvent{Name: f.Name, Path: f.Path, State: "unlocked"}
	if f.Path == "" {
		e.State = "runs"
		return e
	}
	sum, err := remote.Sum(f.Path)
	if err != nil {
		e.State = "missing"
		return e
	}
	e.SHA256 = sum
	row := l.Find(f.Name, f.Path)
	switch {
	case f.Own:
		e.State = "own"
	case row != nil && row.SHA256 == sum:
		e.State, e.Version, e.Protocol = "locked", row.Version, row.Protocol
	case row != nil:
		e.State = "changed"
	}
	return e
}
