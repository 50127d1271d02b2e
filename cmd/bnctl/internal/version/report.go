package version

import (
	"runtime"
	"strings"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/build"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/parts"
)

// event is the line of version --json.
type event struct {
	Version string              `json:"version"`
	Commit  string              `json:"commit"` // "" if the commit is not known
	Go      string              `json:"go"`
	System  string              `json:"system"`  // linux/amd64
	Classes []string            `json:"classes"` // numbered kernel classes, "fma/1"
	Numbers []string            `json:"parts"`   // numbered parts of training, "optimizer.sgd/1"
	Devices []fleet.Description `json:"devices"`
}

// print describes the program and, with verbose, the devices of this machine.
func (o Output) print(verbose bool, devices []fleet.Description) {
	e := event{Version: build.Version(), Commit: build.Commit(), Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH, Classes: class.NumberedClasses(), Numbers: parts.All(),
		Devices: devices}
	o.Event("version", e)
	o.Result("bnctl %s", e.Version)
	if !verbose {
		return
	}
	if e.Commit == "" {
		e.Commit = "not known to the build"
	}
	o.Result("commit   %s\ngo       %s, %s", e.Commit, e.Go, e.System)
	o.Result("classes  %s\nparts    %s", strings.Join(e.Classes, " "), strings.Join(e.Numbers, " "))
	for _, d := range devices {
		switch {
		case d.Reason != "":
			o.Result("device   %s: not available: %s", d.Name, o.InFlags(d.Reason))
		case d.Kernels == "":
			o.Result("device   %s: %s", d.Name, d.Description)
		default:
			o.Result("device   %s: kernels %s, %s", d.Name, d.Kernels, d.Description)
		}
	}
}
