// Package cuda provides NVIDIA GPUs as devices.
//
// So far it finds and describes them, without creating a context on any;
// opening one says what is missing.
package cuda

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cuda/internal/cu"
)

// Provider provides the GPUs of this machine.
type Provider struct {
	// Library is where libnvidia-ml is; "" looks where it usually is.
	Library string
}

// Describe implements device.Provider.
func (Provider) Describe() device.Plugin {
	return device.Plugin{Name: "cuda", Version: "0.1", About: "NVIDIA GPUs: finds and describes them"}
}

// List implements device.Provider. No library, no driver and no GPU are no
// errors: the reason says which.
func (p Provider) List(context.Context) ([]device.Info, string, error) {
	gpus, err := p.gpus()
	if err != nil {
		return nil, err.Error() + "; install the NVIDIA driver or use --devices cpu", nil
	}
	if len(gpus) == 0 {
		return nil, "the NVIDIA driver runs, but there is no GPU", nil
	}
	gpus, reason := visible(gpus, os.LookupEnv)
	var list []device.Info
	for i, g := range gpus {
		list = append(list, info(i, g))
	}
	return list, reason, nil
}

func (p Provider) gpus() ([]cu.GPU, error) {
	var paths []string
	if p.Library != "" {
		paths = []string{p.Library}
	}
	n, err := cu.OpenNVML(paths...)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	return n.GPUs()
}

func info(index int, g cu.GPU) device.Info {
	return device.Info{
		ID: g.UUID, Name: fmt.Sprintf("cuda:%d", index),
		Description: fmt.Sprintf("%s, driver %s", g.Name, g.Driver),
		MemoryTotal: g.Total, MemoryFree: g.Free,
	}
}

// Open implements device.Provider.
func (p Provider) Open(ctx context.Context, id string, _ device.Options) (device.Device, error) {
	const call = "Open"
	list, reason, err := p.List(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, device.Errorf("cuda", call, device.Unavailable, "%s", reason)
	}
	for _, i := range list {
		if i.ID == id {
			return nil, device.Errorf(i.Name, call, device.Unavailable, "%s%s", missing(),
				"this version of bnctl-device-cuda finds GPUs but has no kernels to compute with; use --devices cpu")
		}
	}
	return nil, device.Errorf("cuda", call, device.Unavailable, "no GPU %q; there are %s", id, ids(list))
}

// missing names the libraries that are not there.
func missing() string {
	m := cu.Missing()
	if len(m) == 0 {
		return ""
	}
	return strings.Join(m, ", ") + " not found; and "
}

func ids(list []device.Info) string {
	var s []string
	for _, i := range list {
		s = append(s, i.ID)
	}
	return strings.Join(s, ", ")
}

var _ device.Provider = Provider{}
