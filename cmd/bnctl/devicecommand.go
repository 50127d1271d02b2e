package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/fleet"
)

func devicesCommand() *cli.Command {
	return &cli.Command{
		Name:  "devices",
		Usage: "what can compute here; looking touches nothing",
		Description: `   bnctl devices list
   bnctl devices info cpu
   bnctl devices bench cpu`,
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "all devices of all plugins, and why a plugin has none", Action: devicesList,
				Flags: pluginFlags(),
				Description: `   bnctl devices list
   bnctl devices list --device-plugin ./bnctl-device-mine --allow-unlocked --json`},
			{Name: "info", Usage: "all that is known of a device", ArgsUsage: "NAME", Action: devicesInfo,
				Flags: pluginFlags(),
				Description: `   bnctl devices info cpu
   bnctl devices info cuda:0 --json`},
			devicesBenchCommand(),
		},
	}
}

// deviceEvent is a line of devices --json: a device, or a plugin without one
// and the reason.
type deviceEvent struct {
	Name          string   `json:"name"` // as --devices takes it
	ID            string   `json:"id"`
	Description   string   `json:"description"`
	MemoryTotal   int64    `json:"memory_total"` // bytes; 0 if unknown
	MemoryFree    int64    `json:"memory_free"`
	Plugin        string   `json:"plugin"`
	Version       string   `json:"version"`
	Protocol      int      `json:"protocol"`
	Deterministic bool     `json:"deterministic"`
	Reason        string   `json:"reason,omitempty"` // why there is no device
	Kernels       string   `json:"kernels,omitempty"`
	Threads       int      `json:"threads,omitempty"`
	Features      []string `json:"features,omitempty"`
	Levels        []string `json:"levels,omitempty"`
	Precisions    []string `json:"precisions,omitempty"` // absent: f32 alone
	Ops           []string `json:"ops,omitempty"`
	Process       int      `json:"process,omitempty"` // of an open device
}

func newDeviceEvent(l fleet.Listed) deviceEvent {
	d := l.Device
	e := deviceEvent{Name: l.Name, ID: d.ID, Description: d.Description,
		MemoryTotal: d.MemoryTotal, MemoryFree: d.MemoryFree,
		Plugin: l.Plugin.Name, Version: l.Plugin.Version, Protocol: device.ProtocolV1, Reason: l.Reason,
		Deterministic: d.Has(device.Deterministic), Kernels: d.Kernels, Threads: d.Threads,
		Features: d.Features, Levels: d.Levels, Precisions: d.Precisions}
	for _, o := range d.Ops {
		e.Ops = append(e.Ops, o.String())
	}
	return e
}

func devicesList(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	plugins := pluginsOf(c)
	names, err := plugins.Names()
	if err != nil {
		return err
	}
	o := outputOf(c)
	o.result("%-8s  %-18s  %-12s  %s", "name", "memory", "plugin", "description")
	for _, name := range names {
		for _, l := range plugins.List(c.Context, name) {
			e := newDeviceEvent(l)
			o.event("device", e)
			what := e.Description
			if e.Reason != "" {
				what = "none: " + e.Reason
			}
			o.result("%-8s  %-18s  %-12s  %s", e.Name, memory(e), strings.TrimSpace(e.Plugin+" "+e.Version), what)
		}
	}
	return c.Context.Err()
}

// memory writes the memory of a device: "60.1 of 62.8 GiB".
func memory(e deviceEvent) string {
	if e.MemoryTotal == 0 {
		return "-"
	}
	const gib = 1 << 30
	return fmt.Sprintf("%.1f of %.1f GiB", float64(e.MemoryFree)/gib, float64(e.MemoryTotal)/gib)
}

func devicesInfo(c *cli.Context) error {
	name, err := oneArgument(c, "NAME", "of a device, as devices list has them")
	if err != nil {
		return err
	}
	plugin, _, _ := strings.Cut(name, ":")
	plugins := pluginsOf(c)
	names, err := plugins.Names()
	if err != nil {
		return err
	}
	var known []string
	for _, n := range names {
		known = append(known, n)
		if n != plugin {
			continue
		}
		for _, l := range plugins.List(c.Context, n) {
			if known = append(known, l.Name); l.Name == name {
				return printDevice(outputOf(c), newDeviceEvent(l))
			}
		}
	}
	return misuse("unknown device %q%s; bnctl devices list shows what is there", name, nearest(name, known))
}

func printDevice(o *output, e deviceEvent) error {
	o.event("device", e)
	if e.Reason != "" {
		return fmt.Errorf("%s: no device: %s", e.Name, e.Reason)
	}
	for _, row := range []struct{ name, value string }{
		{"name", e.Name}, {"description", e.Description}, {"id", e.ID}, {"memory", memory(e)},
		{"plugin", fmt.Sprintf("%s %s, protocol %d", e.Plugin, e.Version, e.Protocol)},
		{"kernels", e.Kernels}, {"features", strings.Join(e.Features, ", ")},
		{"precisions", strings.Join(e.Precisions, ", ")}, {"levels", strings.Join(e.Levels, ", ")},
		{"operations", fmt.Sprintf("%d: %s", len(e.Ops), strings.Join(e.Ops, " "))},
	} {
		if row.value != "" {
			o.result("%-12s  %s", row.name, row.value)
		}
	}
	return nil
}
