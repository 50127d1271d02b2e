package main

import (
	"cmp"
	"fmt"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/machines"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/problem"
)

func deviceFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "devices", Value: "cpu",
			Usage: "comma-separated: cpu, 4xcpu, cuda:0, cuda, ref, auto, a plugin's name, 2xNAME, tls://HOST:PORT/*"},
		&cli.IntFlag{Name: "threads", Usage: "`N` per CPU device", DefaultText: "the cores, shared evenly"},
		levelFlag(),
	}, pluginFlags()...)
}

// pluginFlags are flags that name plugins, in addition to the plugins that are found by themselves.
func pluginFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringSliceFlag{Name: "device-plugin", Usage: "`PATH` of a device plugin"},
		&cli.BoolFlag{Name: "allow-unlocked", Usage: "run plugins that are not in devices.lock"},
	}, machines.Flags()...)
}

// levelFlag limits how devices exchange data with each other. It is meant for tests and measurements.
func levelFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "level", Hidden: true,
		Usage: "data plane that may be used: stream/1, shm/1, coll.shm/1"}
}

// leastGreeting is the least time that a plugin has to identify itself, even if --device-timeout is shorter,
// because its process must be loaded first.
const leastGreeting = 3 * time.Second

// pluginsOf returns the plugins that the flags name.
func pluginsOf(c *cli.Context) fleet.Plugins {
	p := fleet.Plugins{Paths: c.StringSlice("device-plugin"), Unlocked: c.Bool("allow-unlocked"),
		Levels: c.StringSlice("level"), TLS: machines.Keys(c),
		Slow: func(text string) { outputOf(c).note("%s", text) }}
	if c.IsSet("device-timeout") {
		p.Timeout = time.Duration(max(c.Float64("device-timeout"), leastGreeting.Seconds()) * float64(time.Second))
	}
	if c.Bool("v") {
		p.Log = func(plugin, line string) { fmt.Fprintln(c.App.ErrWriter, legibly(plugin+": "+line)) }
	}
	return p
}

// noLimit means that any number of devices is permitted.
const noLimit = 0

// fleetOptions returns the options that the flags about devices set. limit is the maximum number of devices;
// 0 permits any number.
func fleetOptions(c *cli.Context, precision string, limit int) (fleet.Options, error) {
	o := outputOf(c)
	f := fleet.Options{Devices: c.String("devices"), Threads: c.Int("threads"), Kernels: c.String("kernels"),
		Precision: precision, Most: limit, Plugins: pluginsOf(c)}
	if err := cmp.Or(f.Plugins.CheckLevels(), machines.Join(c, &f)); err != nil {
		return f, err
	}
	if c.IsSet("threads") && f.Threads == 0 {
		return f, problem.New("threads", "0", "this machine has "+plural(runtime.NumCPU(), "logical CPU"),
			fmt.Sprintf("use 1 to %d", runtime.NumCPU()))
	}
	if !o.quiet {
		f.Note = o.note
	}
	if o.verbose {
		f.Debug = o.note
	}
	return f, nil
}
