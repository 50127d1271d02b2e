package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device/remote"
)

// pluginPrefix begins the file name of every plugin: bnctl-device-NAME.
const pluginPrefix = "bnctl-device-"

// foundPlugin is an executable that has the name of a plugin.
type foundPlugin struct {
	name, path string
	own        bool // it came with bnctl: who can change it can change bnctl
}

// pluginName returns the NAME of bnctl-device-NAME, or the file's own name.
func pluginName(path string) string {
	return strings.TrimPrefix(strings.TrimSuffix(filepath.Base(path), ".exe"), pluginPrefix)
}

// pluginFolders lists where plugins are looked for, best first. Neither $PATH
// nor the current folder is among them.
func pluginFolders() []string {
	folders := filepath.SplitList(os.Getenv("BNCTL_PLUGIN_PATH"))
	if data, err := dataFolder(); err == nil {
		folders = append(folders, filepath.Join(data, "plugins"))
	}
	if own := ownFolder(); own != "" {
		folders = append(folders, filepath.Join(filepath.Dir(own), "lib", "bnctl", "plugins"), own)
	}
	return slices.DeleteFunc(folders, func(f string) bool { return !filepath.IsAbs(f) })
}

// ownFolder is where the bnctl binary lies; "" if that is unknown.
func ownFolder() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	return filepath.Dir(self)
}

// dataFolder is bnctl's own folder among the user's data.
func dataFolder() (string, error) {
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "bnctl"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "share", "bnctl"), nil
}

// findPlugins lists all plugins that could be started: those of
// --device-plugin, those in the folders, those that were added. The first of
// a name counts.
func findPlugins(c *cli.Context) ([]foundPlugin, error) {
	var all []foundPlugin
	for _, path := range c.StringSlice("device-plugin") {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		all = append(all, foundPlugin{name: pluginName(path), path: absolute})
	}
	for _, folder := range pluginFolders() {
		paths, err := filepath.Glob(filepath.Join(folder, pluginPrefix+"*"))
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			all = append(all, foundPlugin{pluginName(p), p, folder == ownFolder()})
		}
	}
	lock, err := readLock()
	if err != nil {
		return nil, err
	}
	for _, l := range lock {
		all = append(all, foundPlugin{name: l.Name, path: l.Path})
	}
	return firstOfName(all), nil
}

func firstOfName(all []foundPlugin) []foundPlugin {
	var out []foundPlugin
	for _, p := range all {
		if !slices.ContainsFunc(out, func(o foundPlugin) bool { return o.name == p.name }) {
			out = append(out, p)
		}
	}
	return out
}

// findPlugin returns how the plugin of that name is started, once it is known
// that it is the one that was added.
func findPlugin(c *cli.Context, name string) (remote.Command, error) {
	all, err := findPlugins(c)
	if err != nil {
		return remote.Command{}, err
	}
	known := []string{"cpu", "cuda", "ref", "auto"}
	for _, p := range all {
		if p.name == name {
			return p.command(c.Bool("allow-unlocked"))
		}
		known = append(known, p.name)
	}
	if name == "cuda" {
		return remote.Command{}, errors.New("the plugin bnctl-device-cuda does not lie beside bnctl; " +
			"build it with make build, or use --devices cpu")
	}
	return remote.Command{}, misuse("unknown device %q%s; bnctl devices list shows what is there",
		name, nearest(name, known))
}

// command returns how p is started. Unless it came with bnctl it has to be
// in the lock, or unlocked plugins are allowed.
func (p foundPlugin) command(allowUnlocked bool) (remote.Command, error) {
	cmd := remote.Command{Name: p.name, Path: p.path}
	if err := guarded(p.path); err != nil {
		return cmd, err
	}
	if p.own || allowUnlocked {
		return cmd, nil
	}
	lock, err := readLock()
	if err != nil {
		return cmd, err
	}
	l := lock.find(p.name, p.path)
	if l == nil {
		return cmd, misuse("plugin %s (%s) is not in %s; look at it with bnctl plugin add %s, "+
			"or use --allow-unlocked", p.name, p.path, lockPath(), p.path)
	}
	cmd.SHA256 = l.SHA256
	return cmd, nil
}
