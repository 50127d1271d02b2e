package fleet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/problem"
)

// Plugins configures where plugins are found and how they are started. The zero value uses
// the locked plugins in the usual folders (remote.Folders).
type Plugins struct {
	Paths    []string // paths of additional plugins
	Unlocked bool     // run plugins that are not in devices.lock
	Levels   []string // data planes that may be used; nil: all
	// TLS is the folder with the certificate of this host for devices on other machines: see
	// package machine.
	TLS string
	// Timeout bounds the start of a plugin, until it has described itself; 0: the
	// default of remote.Command. Above a minute it bounds the opening of a device too.
	Timeout time.Duration
	// Log is called with the lines that a plugin writes to its log. It may be
	// nil.
	Log func(plugin, line string)
	// Slow is called with a sentence when a plugin is slow to start. It may be nil.
	Slow func(text string)
}

// Find lists the plugins in p.Paths and in the usual folders, except bnctl's built-in
// plugins. It does not start them.
func (p Plugins) Find() ([]remote.Found, error) { return remote.Find(p.Paths...) }

// Names lists all plugins: "cpu" and "cuda" first, then the result of Find, "ref" last. A
// listed plugin may still fail to start.
func (p Plugins) Names() ([]string, error) {
	names := []string{"cpu", "cuda"}
	found, err := p.Find()
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if f.Name != "cuda" {
			names = append(names, f.Name)
		}
	}
	return append(names, "ref"), nil
}

// builtIn are the plugins that come with this program.
var builtIn = []string{"cpu", "cuda", "opencl", "ref"}

// Provider is a device.Provider that may have started processes.
type Provider interface {
	device.Provider
	// OpenAs is like Open but with another name of the device for errors.
	OpenAs(ctx context.Context, name, id string, o device.Options) (device.Device, error)
	// Close ends the processes that are still running.
	Close() error
}

// Start starts the plugin of that name if devices.lock or p.Unlocked permits it. "cpu" is
// this program in another process, and main must have called Serve. "ref" needs no process.
// The caller closes the provider. The error is a *problem.Unknown or a *problem.Error if the
// plugin does not exist or must not be started, and otherwise the error of the start.
func (p Plugins) Start(ctx context.Context, name string) (Provider, error) {
	if onMachine(name) {
		return p.connect(ctx, name)
	}
	switch name {
	case "ref":
		return inProcess{ref.Provider{}}, nil
	case "cpu":
		return p.startOwn(ctx, name)
	}
	cmd, err := p.command(name)
	if err != nil {
		return nil, err
	}
	return remote.Start(ctx, p.adorn(cmd))
}

// Command returns the command that starts the plugin at path, locked or not, to inspect or
// judge it.
func (p Plugins) Command(path string) (remote.Command, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return remote.Command{}, err
	}
	cmd, err := remote.Found{Name: remote.PluginName(absolute), Path: absolute}.Command(true)
	if err != nil {
		return cmd, err
	}
	return p.adorn(cmd), nil
}

// startOwn starts this program again as the process of a built-in plugin.
func (p Plugins) startOwn(ctx context.Context, name string) (Provider, error) {
	if !serves.Load() {
		return nil, problem.Advise("call Serve first thing in main",
			"fleet: devices are processes of this program, which does not serve them")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return remote.Start(ctx, p.adorn(remote.Command{Name: name, Path: self, Args: []string{serveWord, name}}))
}

// named returns a function that reports whether a plugin has a name.
func named(name string) func(remote.Found) bool {
	return func(f remote.Found) bool { return f.Name == name }
}

// command returns the command that starts the named plugin, after checking that its file is
// the one that was added.
func (p Plugins) command(name string) (remote.Command, error) {
	all, err := p.Find()
	if err != nil {
		return remote.Command{}, err
	}
	if i := slices.IndexFunc(all, named(name)); i >= 0 {
		cmd, err := all[i].Command(p.Unlocked)
		if errors.Is(err, remote.ErrUnlocked) {
			err = problem.Wrap("", err)
		}
		return cmd, err
	}
	if name == "cuda" {
		return remote.Command{}, problem.Advise("build it and put it there, or use {devices} cpu",
			"the plugin bnctl-device-cuda does not lie beside this program")
	}
	known := []string{"cpu", "cuda", "ref", "auto"}
	for _, f := range all {
		known = append(known, f.Name)
	}
	return remote.Command{}, &problem.Unknown{What: "device", Name: name, Known: known}
}

// adorn applies the settings of p to a command.
func (p Plugins) adorn(cmd remote.Command) remote.Command {
	if len(p.Levels) > 0 {
		cmd.Levels = p.Levels
	}
	cmd.Timeout, cmd.Slow = p.Timeout, p.Slow
	if p.Timeout > time.Minute {
		cmd.OpenTimeout = p.Timeout
	}
	if p.Log != nil {
		cmd.Log = func(line string) { p.Log(cmd.Name, line) }
	}
	return cmd
}

// inProcess is device/ref, which needs no process.
type inProcess struct{ ref.Provider }

// OpenAs implements Provider.
func (p inProcess) OpenAs(ctx context.Context, _, id string, o device.Options) (device.Device, error) {
	return p.Open(ctx, id, o)
}

// Close implements Provider.
func (inProcess) Close() error { return nil }
