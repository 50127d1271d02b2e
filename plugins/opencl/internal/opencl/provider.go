// Package opencl provides OpenCL devices. They must support float64, fused multiply-adds and subnormals.
package opencl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/plugins/opencl/internal/cl"
	"github.com/bnctl/bnctl/problem"
)

// Provider provides the OpenCL devices of this machine.
type Provider struct {
	// Library is the path of libOpenCL; "" searches the usual places.
	Library string
}

// elsewhere is the remedy in errors if no OpenCL device can compute.
const elsewhere = "use {devices} cpu"

// Describe implements device.Provider.
func (Provider) Describe() device.Plugin {
	return device.Plugin{Name: "opencl", Version: "1", About: "OpenCL 1.2 and later; not yet run on a GPU"}
}

// List implements device.Provider. A missing library, platform or device is not an error:
// the returned reason names it.
func (p Provider) List(context.Context) ([]device.Info, string, error) {
	_, found, reason := p.find()
	var list []device.Info
	for i, d := range found {
		list = append(list, info(i, d))
	}
	return list, reason, nil
}

// find opens the library and lists the devices. If there are no devices, it returns the reason.
func (p Provider) find() (*cl.API, []cl.Device, string) {
	const advice = "; install the OpenCL driver of the device or " + elsewhere
	var paths []string
	if p.Library != "" {
		paths = []string{p.Library}
	}
	api, err := cl.Open(paths...)
	if err != nil {
		return nil, nil, err.Error() + advice
	}
	found, err := api.Devices()
	switch {
	case err != nil:
		return nil, nil, err.Error()
	case len(found) == 0:
		return nil, nil, "libOpenCL is there, but no platform with a device" + advice
	}
	return api, found, ""
}

// info describes a device. Its ID consists of the number of the platform and the number of the device.
func info(index int, d cl.Device) device.Info {
	return gpu.Describe(device.Info{
		ID: fmt.Sprintf("%d.%d", d.Platform, d.Index), Name: fmt.Sprintf("opencl:%d", index),
		Description: fmt.Sprintf("%s, %s, %s", d.Name, d.PlatformName, d.Version),
		MemoryTotal: d.Memory, MemoryFree: d.Memory,
	})
}

// Open implements device.Provider. id is the ID of an Info, its index, or a part of the
// device's name.
func (p Provider) Open(_ context.Context, id string, o device.Options) (device.Device, error) {
	api, found, reason := p.find()
	if len(found) == 0 {
		return nil, device.Errorf("opencl", "Open", device.Unavailable, "%w", problem.Failure("", reason, ""))
	}
	index := choose(found, id)
	if index < 0 {
		return nil, device.Errorf("opencl", "Open", device.Unavailable, "no device %q; there are %s", id,
			describe(found))
	}
	d, what := found[index], info(index, found[index])
	if err := errors.Join(gpu.Refuse(o), suits(d)); err != nil {
		return nil, device.Errorf(what.Name, "Open", device.Unsupported, "%w", err)
	}
	q, err := api.Open(d, gpu.Source(), folder(d))
	if err != nil {
		return nil, device.Errorf(what.Name, "Open", device.Unavailable, "%w", err)
	}
	return gpu.New(what, driver{q, d.Largest}), nil
}

// folder returns the folder for built programs of a device, or "" if they are not stored:
// PoCL stores them itself, and needs half a minute to return one.
func folder(d cl.Device) string {
	folder, err := os.UserCacheDir()
	if err != nil || strings.HasPrefix(d.PlatformName, "Portable Computing Language") {
		return ""
	}
	return filepath.Join(folder, "bnctl", "opencl")
}

// choose returns the number of the device that id selects, or -1.
func choose(found []cl.Device, id string) int {
	for i, d := range found {
		if id == info(i, d).ID || id == fmt.Sprint(i) {
			return i
		}
	}
	for i, d := range found {
		if id != "" && strings.Contains(strings.ToLower(d.Name), strings.ToLower(id)) {
			return i
		}
	}
	return -1
}

func describe(found []cl.Device) string {
	var s []string
	for i, d := range found {
		s = append(s, fmt.Sprintf("%d (%s)", i, d.Name))
	}
	return strings.Join(s, ", ")
}

// suits returns an error if a device cannot compute the bits of the class.
func suits(d cl.Device) error {
	const single = cl.Denorm | cl.InfNaN | cl.RoundToNearest | cl.FMA
	switch {
	case d.Double == 0:
		return problem.Advise(elsewhere, "%s has no float64, in which much of a result is computed", d.Name)
	case d.Single&single != single || d.Double&single != single:
		return problem.Advise(elsewhere, "%s lacks%s, without which its bits would be others", d.Name, lacks(d))
	case d.Threads < gpu.Threads:
		return fmt.Errorf("%s has groups of %d threads at most; the kernels have %d", d.Name, d.Threads,
			gpu.Threads)
	case d.Local < gpu.LocalMemory:
		return problem.Advise(elsewhere, "%s has %d bytes of local memory, the kernels need %d", d.Name, d.Local,
			gpu.LocalMemory)
	case !d.Compiler:
		return fmt.Errorf("%s comes without a compiler", d.Name)
	}
	return nil
}

// lacks lists the missing floating-point features of a device.
func lacks(d cl.Device) string {
	s, both := "", d.Single&d.Double
	for _, f := range []struct {
		bit  uint64
		name string
	}{{cl.Denorm, " subnormals"}, {cl.InfNaN, " infinities"}, {cl.RoundToNearest, " rounding to nearest"},
		{cl.FMA, " fused multiply-adds"}} {
		if both&f.bit == 0 {
			s += f.name
		}
	}
	return s
}

var _ device.Provider = Provider{}
