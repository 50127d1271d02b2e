package train

import (
	"github.com/bnctl/bnctl/recipe"
	"runtime"
	"runtime/debug"
)

// Environment describes the machine and the code of a run. It is not part of the recipe.
type Environment struct {
	Release  string   `json:"release"`            // release of bnctl
	Revision string   `json:"revision,omitempty"` // revision of the source; "" if the build does not know it
	Go       string   `json:"go"`                 // version of the compiler
	OS       string   `json:"os"`
	Arch     string   `json:"arch"`
	CPUs     int      `json:"cpus"`              // logical
	Devices  []string `json:"devices,omitempty"` // description of each device, in the order of the fleet
}

// environment describes this program and machine.
func (s *Session) environment() *Environment {
	e := &Environment{Release: recipe.Release, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPUs: runtime.NumCPU()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				e.Revision = setting.Value
			}
		}
	}
	for _, m := range s.devices.members {
		e.Devices = append(e.Devices, m.Device.Info().Description)
	}
	return e
}
