package main

import (
	"runtime"

	"github.com/bnctl/bnctl/fleet"
)

// versionEvent is the line of version --json.
type versionEvent struct {
	Version string              `json:"version"`
	Commit  string              `json:"commit"` // "" where the build does not know it
	Go      string              `json:"go"`
	System  string              `json:"system"` // linux/amd64
	Devices []fleet.Description `json:"devices"`
}

// reportVersion describes the program and, with verbose, the devices that compute here.
func reportVersion(o *output, verbose bool, devices []fleet.Description) {
	e := versionEvent{Version: version(), Commit: commit(), Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH, Devices: devices}
	o.event("version", e)
	o.result("bnctl %s", e.Version)
	if !verbose {
		return
	}
	if e.Commit == "" {
		e.Commit = "not known to the build"
	}
	o.result("commit   %s\ngo       %s, %s", e.Commit, e.Go, e.System)
	for _, d := range devices {
		switch {
		case d.Reason != "":
			o.result("device   %s: not available: %s", d.Name, inFlags(d.Reason))
		case d.Kernels == "":
			o.result("device   %s: %s", d.Name, d.Description)
		default:
			o.result("device   %s: kernels %s, %s", d.Name, d.Kernels, d.Description)
		}
	}
}
