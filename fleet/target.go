package fleet

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/problem"
)

// target is one device to open.
type target struct {
	plugin, id, name string
	repeats          bool // the device is opened several times, each time in a separate process
	info             device.Info
}

// resolve finds the devices that specs name: all usable devices for "auto", all devices for
// "cuda", one for "cpu".
func (f *Fleet) resolve(ctx context.Context, specs []spec) ([]target, error) {
	var out []target
	for _, s := range specs {
		chosen, err := f.meant(ctx, s)
		if err != nil {
			return nil, err
		}
		out = append(out, chosen...)
	}
	return out, nil
}

func (f *Fleet) meant(ctx context.Context, s spec) ([]target, error) {
	if s.name == "auto" {
		return f.usable(ctx, s)
	}
	list, err := f.list(ctx, s.name)
	if err != nil {
		return nil, err
	}
	return pick(s, list)
}

// usable returns every device of every plugin that may be started, except ref, which exists
// for comparison, and opencl, because its devices may be the processor or belong to other
// plugins. Devices that cannot compute at the precision are left out.
func (f *Fleet) usable(ctx context.Context, s spec) ([]target, error) {
	if s.index != "" || s.count != 1 {
		return nil, problem.New("devices", "", "auto means all devices, once",
			"name a plugin for some of them, or for more")
	}
	names, err := f.options.Plugins.Names()
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "ref" || name == "opencl" })
	var out []target
	lists, errs := f.listAll(ctx, names)
	for i, name := range names {
		if errs[i] != nil {
			f.debug("%s is not used: %v", name, errs[i])
			continue
		}
		for k, d := range computing(lists[i]) {
			if d.Computes(f.device.Precision) {
				out = append(out, target{plugin: name, id: d.ID, name: shortName(name, k, len(lists[i])), info: d})
			}
		}
	}
	if len(out) == 0 {
		return nil, device.Errorf("auto", "List", device.Unavailable,
			"%w", problem.Failure("", "no device can be used", "see {devices-list}"))
	}
	return out, ctx.Err()
}

// listAll lists the devices of all these plugins at once.
func (f *Fleet) listAll(ctx context.Context, names []string) ([][]device.Info, []error) {
	lists, errs := make([][]device.Info, len(names)), make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { lists[i], errs[i] = f.list(ctx, name) })
	}
	all.Wait()
	return lists, errs
}

// computing returns the devices of a list that have operations.
func computing(list []device.Info) []device.Info {
	return slices.DeleteFunc(slices.Clone(list), func(d device.Info) bool { return len(d.Ops) == 0 })
}

// list starts the provider of a plugin, unless it runs already, and lists its devices.
func (f *Fleet) list(ctx context.Context, name string) ([]device.Info, error) {
	var list []device.Info
	var reason string
	err := f.persist(ctx, name, func() error {
		p, err := f.provider(ctx, name)
		if err == nil {
			list, reason, err = p.List(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, device.Errorf(name, "List", device.Unavailable, "%w",
			problem.Failure("", "no device: "+reason, ""))
	}
	return list, nil
}

// provider returns the provider of a plugin, and starts the plugin if it does not run
// yet. It may be called for several plugins at once.
func (f *Fleet) provider(ctx context.Context, name string) (Provider, error) {
	f.mu.Lock()
	p := f.providers[name]
	f.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := f.options.Plugins.Start(ctx, name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.providers[name] = p
	return p, nil
}

// pick selects the devices that a spec names from the list of its plugin.
func pick(s spec, list []device.Info) ([]target, error) {
	if onMachine(s.name) {
		return pickOnMachine(s, list)
	}
	if s.index == "" && s.name == "cuda" && s.count == 1 {
		var all []target
		for i, d := range list {
			all = append(all, target{plugin: s.name, id: d.ID, name: fmt.Sprintf("%s:%d", s.name, i), info: d})
		}
		return all, nil
	}
	at := 0
	if s.index != "" {
		at = numbered(s.index, list)
		if at < 0 || at >= len(list) {
			return nil, problem.New("devices", s.name+":"+s.index,
				onlyDevice(s.name, len(list)), "")
		}
	}
	t := target{plugin: s.name, id: list[at].ID, name: calls(s.name, at, list), repeats: s.count > 1,
		info: list[at]}
	return slices.Repeat([]target{t}, s.count), nil
}

// calls returns the name that a run uses for device i of a plugin. Only devices of built-in
// plugins use the name in their Info: another device could have the name of a different device,
// and a lost or reopened device is identified by its name.
func calls(plugin string, i int, list []device.Info) string {
	if slices.Contains(builtIn, plugin) {
		return list[i].Name
	}
	return shortName(plugin, i, len(list))
}

// numbered returns the device that an index selects. The index is a number, an ID, the
// beginning of an ID, or a part of the description.
func numbered(index string, list []device.Info) int {
	if n, err := strconv.Atoi(index); err == nil {
		return n
	}
	if at := slices.IndexFunc(list, func(d device.Info) bool { return d.ID == index }); at >= 0 {
		return at
	}
	return slices.IndexFunc(list, func(d device.Info) bool {
		return strings.HasPrefix(d.ID, index) || index != "" &&
			strings.Contains(strings.ToLower(d.Description), strings.ToLower(index))
	})
}

// shortName returns the name of device i of a plugin in Options.Devices.
func shortName(plugin string, i, devices int) string {
	if devices == 1 && plugin != "cuda" {
		return plugin
	}
	return fmt.Sprintf("%s:%d", plugin, i)
}

// onlyDevice describes the devices that a plugin has, for an error.
func onlyDevice(name string, n int) string {
	if n == 1 {
		return name + " has 1 device, number 0"
	}
	return fmt.Sprintf("%s has %s, 0 to %d", name, problem.Plural(n, "device"), n-1)
}
