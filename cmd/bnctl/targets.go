package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device"
)

// target is one device to open.
type target struct {
	plugin, id, name string
	repeats          bool // the same device is opened several times, in processes of its own
	info             device.Info
}

// resolve finds the devices that specs mean: all that are usable of "auto", all
// of "cuda", one of "cpu".
func (s *deviceSet) resolve(ctx context.Context, c *cli.Context, specs []deviceSpec) ([]target, error) {
	var out []target
	for _, spec := range specs {
		chosen, err := s.meant(ctx, c, spec)
		if err != nil {
			return nil, err
		}
		out = append(out, chosen...)
	}
	return out, nil
}

func (s *deviceSet) meant(ctx context.Context, c *cli.Context, spec deviceSpec) ([]target, error) {
	if spec.name == "auto" {
		return s.usable(ctx, c, spec)
	}
	list, err := s.list(ctx, c, spec.name)
	if err != nil {
		return nil, err
	}
	return choose(spec, spec.name, list)
}

// usable returns every device of every plugin that may be started, but ref,
// which is there to compare with. What cannot compute at the precision is left out.
func (s *deviceSet) usable(ctx context.Context, c *cli.Context, spec deviceSpec) ([]target, error) {
	if spec.index != "" || spec.count != 1 {
		return nil, misuse("--devices auto means all devices, once; name a plugin for some of them, or for more")
	}
	names, err := pluginNames(c)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "ref" })
	var out []target
	lists, errs := s.listAll(ctx, c, names)
	for i, name := range names {
		if errs[i] != nil {
			if outputOf(c).verbose {
				outputOf(c).note("%s is not used: %v", name, errs[i])
			}
			continue
		}
		for k, d := range computing(lists[i]) {
			if d.Computes(s.options.Precision) {
				out = append(out, target{plugin: name, id: d.ID, name: shortName(name, k, len(lists[i])), info: d})
			}
		}
	}
	if len(out) == 0 {
		return nil, device.Errorf("auto", "List", device.Unavailable,
			"no device can be used; see bnctl devices list")
	}
	return out, ctx.Err()
}

// listAll lists the devices of all these plugins at once.
func (s *deviceSet) listAll(ctx context.Context, c *cli.Context, names []string) ([][]device.Info, []error) {
	lists, errs := make([][]device.Info, len(names)), make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { lists[i], errs[i] = s.list(ctx, c, name) })
	}
	all.Wait()
	return lists, errs
}

// computing returns the devices of a list that have operations.
func computing(list []device.Info) []device.Info {
	return slices.DeleteFunc(slices.Clone(list), func(d device.Info) bool { return len(d.Ops) == 0 })
}

// list starts the provider of a plugin, unless it runs already, and lists its devices.
func (s *deviceSet) list(ctx context.Context, c *cli.Context, name string) ([]device.Info, error) {
	var list []device.Info
	var reason string
	err := persist(ctx, c, name, func() error {
		p, err := s.provider(ctx, c, name)
		if err == nil {
			list, reason, err = p.List(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, device.Errorf(name, "List", device.Unavailable, "no device: %s", reason)
	}
	return list, nil
}

// provider returns the provider of a plugin, which it starts if need be. It
// may be called for several plugins at once.
func (s *deviceSet) provider(ctx context.Context, c *cli.Context, name string) (provider, error) {
	s.mu.Lock()
	p := s.providers[name]
	s.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := openProvider(ctx, c, name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.providers[name] = p
	return p, nil
}

// choose picks the devices that a spec means from the list of its plugin.
func choose(spec deviceSpec, name string, list []device.Info) ([]target, error) {
	if spec.index == "" && name == "cuda" && spec.count == 1 {
		var all []target
		for i, d := range list {
			all = append(all, target{plugin: name, id: d.ID, name: fmt.Sprintf("%s:%d", name, i), info: d})
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
	t := target{plugin: name, id: list[at].ID, name: list[at].Name, repeats: spec.count > 1, info: list[at]}
	return slices.Repeat([]target{t}, spec.count), nil
}
