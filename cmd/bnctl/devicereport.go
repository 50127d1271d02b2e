package main

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/fleet"
)

func headDevices(o *output) {
	o.result("%-8s  %-18s  %-12s  %s", "name", "memory", "plugin", "description")
}

// rowDevice prints a device or, for a plugin without devices, the reason why it has none.
func rowDevice(o *output, d fleet.Description) {
	d.Reason = inFlags(d.Reason)
	o.event("device", d)
	what := d.Description
	if d.Reason != "" {
		what = "none: " + d.Reason
	}
	o.result("%-8s  %-18s  %-12s  %s", d.Name, d.Memory(), strings.TrimSpace(d.Plugin+" "+d.Version), what)
}

// reportDevice prints all that is known of a device.
func reportDevice(o *output, d fleet.Description) error {
	d.Reason = inFlags(d.Reason)
	o.event("device", d)
	if d.Reason != "" {
		return fmt.Errorf("%s: no device: %s", d.Name, d.Reason)
	}
	o.results(d.Lines())
	return nil
}

// tellOfDevices prints the open devices with the numbers of their processes, for users who monitor them.
func tellOfDevices(o *output, f *fleet.Fleet) {
	for i, d := range f.Opened() {
		o.event("device", d)
		if o.verbose {
			o.note("device %s: process %d, %s", d.Name, d.Process, d.Description)
		}
		if info := f.Members[i].Device.Info(); info.Note != "" {
			o.note("device %s: session at %s: %s", d.Name, info.Levels[0], info.Note)
		}
	}
}
