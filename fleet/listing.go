package fleet

import (
	"context"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/problem"
)

// Listed is a device of a plugin, or a plugin without devices and the reason.
type Listed struct {
	Name   string        // a name for Options.Devices
	Plugin device.Plugin // name and version of the plugin
	Device device.Info   // abilities of the device; zero if there is a Reason instead
	// Reason explains why the device is missing and how to fix it, with options in braces
	// as in package problem; "" if the device exists.
	Reason string
}

// List returns the devices of a plugin, which it starts and ends without opening a device.
// A plugin without devices, or one that cannot be started, yields one Listed with the
// reason.
func (p Plugins) List(ctx context.Context, name string) []Listed {
	provider, err := p.Start(ctx, name)
	if err != nil {
		return []Listed{{Name: name, Plugin: device.Plugin{Name: name}, Reason: reasonOf(err)}}
	}
	defer provider.Close()
	about := provider.Describe()
	list, reason, err := provider.List(ctx)
	if err != nil {
		reason = reasonOf(err)
	}
	return listed(name, about, list, reason)
}

// reasonOf returns the text and the advice of err, for the field Reason of a Listed.
func reasonOf(err error) string {
	text, advice := problem.Split(err)
	if advice == "" {
		return text
	}
	return text + "; " + advice
}

func listed(name string, plugin device.Plugin, list []device.Info, reason string) []Listed {
	if len(list) == 0 {
		return []Listed{{Name: name, Plugin: plugin, Reason: reason}}
	}
	var all []Listed
	for i, d := range list {
		l := Listed{Name: shortName(name, i, len(list)), Plugin: plugin, Device: d}
		if onMachine(name) {
			l.Name = name + "/" + d.ID
		}
		all = append(all, l)
	}
	return all
}

// ListOne returns the entry of List for one device or plugin. It starts the plugin, which is named before
// the colon in name, or connects to the machine. If the name is unknown, the error is a *problem.Unknown
// with the known names.
func (p Plugins) ListOne(ctx context.Context, name string) (*Listed, error) {
	plugin, _, _ := strings.Cut(name, ":")
	names, err := p.Names()
	if onMachine(name) {
		var s spec
		s, err = parseMachine(name)
		plugin, names = s.name, []string{s.name}
	}
	if err != nil {
		return nil, err
	}
	u := &problem.Unknown{What: "device", Name: name}
	for _, n := range names {
		u.Known = append(u.Known, n)
		if n != plugin {
			continue
		}
		for _, l := range p.List(ctx, n) {
			if u.Known = append(u.Known, l.Name); l.Name == name || l.Reason != "" && onMachine(name) {
				return &l, nil
			}
		}
	}
	return nil, u
}

// Description is a Listed with plain values for JSON. Its fields are the fields of
// device.Info and device.Plugin.
type Description struct {
	Name          string   `json:"name"`         // a name for Options.Devices
	ID            string   `json:"id"`           // id of the device in its plugin
	Description   string   `json:"description"`  // model of the hardware, for people
	MemoryTotal   int64    `json:"memory_total"` // bytes; 0 if unknown
	MemoryFree    int64    `json:"memory_free"`  // bytes, when the device was listed
	Plugin        string   `json:"plugin"`
	Version       string   `json:"version"`  // version of the plugin
	Protocol      int      `json:"protocol"` // version of the protocol with plugins: device.ProtocolV1
	Deterministic bool     `json:"deterministic"`
	Reason        string   `json:"reason,omitempty"`     // see Listed
	Kernels       string   `json:"kernels,omitempty"`    // class: see package device/class
	Classes       []string `json:"classes,omitempty"`    // numbered classes: "fma/1", "int8/1"
	Threads       int      `json:"threads,omitempty"`    // threads of a CPU
	Features      []string `json:"features,omitempty"`   // device.Deterministic and others
	Levels        []string `json:"levels,omitempty"`     // data planes that it can use
	Precisions    []string `json:"precisions,omitempty"` // absent: f32 alone
	Ops           []string `json:"ops,omitempty"`        // supported operations; empty: it cannot compute
	Process       int      `json:"process,omitempty"`    // process of an open device
}

// Description describes l: for JSON, and for programs in other languages.
func (l Listed) Description() Description {
	d := l.Device
	e := Description{Name: l.Name, ID: d.ID, Description: d.Description,
		MemoryTotal: d.MemoryTotal, MemoryFree: d.MemoryFree,
		Plugin: l.Plugin.Name, Version: l.Plugin.Version, Protocol: device.ProtocolV1, Reason: l.Reason,
		Deterministic: d.Has(device.Deterministic), Kernels: d.Kernels, Threads: d.Threads,
		Features: d.Features, Levels: d.Levels, Precisions: d.Precisions, Classes: d.Classes}
	for _, o := range d.Ops {
		e.Ops = append(e.Ops, o.String())
	}
	return e
}

// Opened describes the open devices of f, with their processes and without their
// operations.
func (f *Fleet) Opened() []Description {
	var all []Description
	for _, m := range f.Members {
		info := m.Device.Info()
		d := Listed{Name: m.Name, Plugin: f.Describe(m.Name), Device: info}.Description()
		d.Process, d.Ops = info.Process, nil
		all = append(all, d)
	}
	return all
}
