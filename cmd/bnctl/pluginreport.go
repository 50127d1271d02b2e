package main

import (
	"strings"

	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/fleet"
)

// reportPlugin prints a line of plugin add, remove, list and init.
func reportPlugin(o *output, s fleet.Status, format string, args ...any) {
	o.event("plugin", s)
	o.result(format, args...)
}

func reportAdded(o *output, a *fleet.Added) {
	o.event("plugin", fleet.Status{Name: a.Name, Path: a.Path, Version: a.Version, Protocol: a.Protocol,
		SHA256: a.SHA256, State: "locked"})
	o.result("%s %s: %s", a.About.Name, a.About.Version, a.About.About)
	for _, d := range a.Devices {
		if d.Reason != "" {
			o.result("   no device: %s", inFlags(d.Reason))
			continue
		}
		o.result("   %s  %s", d.Name, d.Device.Description)
	}
	use := "--devices " + a.Name
	if name, is := strings.CutPrefix(a.Name, "bnctl-fabric-"); is {
		use = "--fabric " + name
	}
	o.result("added to %s with sha256 %s; use it with %s", remote.LockPath(), a.SHA256, use)
}
