package main

import (
	"strings"

	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/fleet"
)

// reportPlugin prints a line of the commands plugin add, remove, list and init.
func reportPlugin(o *output, s fleet.Status, format string, args ...any) {
	o.event("plugin", s)
	o.result(format, args...)
}

func reportAdded(o *output, a *fleet.Added) {
	o.event("plugin", fleet.Status{Name: a.Name, Path: a.Path, Version: a.Version, Protocol: a.Protocol,
		SHA256: a.SHA256, State: "locked"})
	name, isFabric := strings.CutPrefix(a.Name, "bnctl-fabric-")
	o.result("%s %s: %s", name, a.About.Version, a.About.About)
	if a.About.Name != name {
		o.result("   it describes itself as %s; here it is called by the name of its file, %s", a.About.Name, name)
	}
	for _, d := range a.Devices {
		if d.Reason != "" {
			o.result("   no device: %s", inFlags(d.Reason))
			continue
		}
		o.result("   %s  %s", d.Name, d.Device.Description)
	}
	use := "--devices " + name
	if isFabric {
		use = "--fabric " + name
	}
	o.result("added to %s with sha256 %s; use it with %s", remote.LockPath(), a.SHA256, use)
}
