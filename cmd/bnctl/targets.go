package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device"
)

// target is one device to open.
type target struct {
	plugin, id, name string
	repeats          bool // the same device is opened several times, in processes of its own
}

// resolve finds the devices that specs mean: all of "auto" and "cuda", one of "cpu".
func (s *deviceSet) resolve(ctx context.Context, c *cli.Context, specs []deviceSpec) ([]target, error) {
	var out []target
	for _, spec := range specs {
		names := []string{spec.name}
		if spec.name == "auto" {
			names = []string{"cuda", "cpu"}
		}
		for _, name := range names {
			list, err := s.list(ctx, c, name)
			if err != nil && spec.name == "auto" && name != "cpu" {
				continue
			}
			if err != nil {
				return nil, err
			}
			chosen, err := choose(spec, name, list)
			if err != nil {
				return nil, err
			}
			out = append(out, chosen...)
			if spec.name == "auto" && len(out) > 0 {
				break
			}
		}
	}
	return out, nil
}

// list starts the provider of a plugin, unless it runs already, and lists its devices.
func (s *deviceSet) list(ctx context.Context, c *cli.Context, name string) ([]device.Info, error) {
	if s.providers[name] == nil {
		p, err := openProvider(ctx, c, name)
		if err != nil {
			return nil, err
		}
		s.providers[name] = p
	}
	list, reason, err := s.providers[name].List(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, device.Errorf(name, "List", device.Unavailable, "no device: %s", reason)
	}
	return list, nil
}

// choose picks the devices that a spec means from the list of its plugin.
func choose(spec deviceSpec, name string, list []device.Info) ([]target, error) {
	if spec.index == "" && name == "cuda" && spec.count == 1 {
		var all []target
		for i, d := range list {
			all = append(all, target{plugin: name, id: d.ID, name: fmt.Sprintf("%s:%d", name, i)})
		}
		return all, nil
	}
	at := 0
	if spec.index != "" {
		at = slices.IndexFunc(list, func(d device.Info) bool { return d.ID == spec.index })
		if n, err := strconv.Atoi(spec.index); err == nil {
			at = n
		}
		if at < 0 || at >= len(list) {
			return nil, misuse("--devices %s:%s: %s has %d devices, 0 to %d", name, spec.index, name,
				len(list), len(list)-1)
		}
	}
	t := target{plugin: name, id: list[at].ID, name: list[at].Name, repeats: spec.count > 1}
	return slices.Repeat([]target{t}, spec.count), nil
}
