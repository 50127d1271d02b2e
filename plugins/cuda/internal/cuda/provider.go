// Package cuda provides NVIDIA GPUs, and parts of GPUs (MIG), as devices. Listing them creates no
// context. Only the driver is needed: it compiles the PTX of package gpu.
package cuda

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cuda/internal/cu"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/problem"
)

// Provider provides the GPUs of this machine.
type Provider struct {
	// Library is the path of libnvidia-ml; "" searches the usual places.
	Library string

	open func(uuid string) (gpu.Driver, error) // nil: opens libcuda from the usual places
}

// Describe implements device.Provider.
func (Provider) Describe() device.Plugin {
	return device.Plugin{Name: "cuda", Version: "1", About: "NVIDIA GPUs, by the driver alone"}
}

// List implements device.Provider. A missing library, driver or GPU is not an error: the
// returned reason names it.
func (p Provider) List(context.Context) ([]device.Info, string, error) {
	gpus, err := p.gpus()
	if err != nil {
		return nil, err.Error() + "; install the NVIDIA driver or use {devices} cpu", nil
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
	return gpu.Describe(device.Info{
		ID: g.UUID, Name: fmt.Sprintf("cuda:%d", index),
		Description: fmt.Sprintf("%s, driver %s", g.Name, g.Driver),
		MemoryTotal: g.Total, MemoryFree: g.Free,
	})
}

// Open implements device.Provider.
func (p Provider) Open(ctx context.Context, id string, o device.Options) (device.Device, error) {
	const call = "Open"
	list, reason, err := p.List(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, device.Errorf("cuda", call, device.Unavailable, "%w", problem.Failure("", reason, ""))
	}
	at := slices.IndexFunc(list, func(i device.Info) bool { return i.ID == id })
	if at < 0 {
		return nil, device.Errorf("cuda", call, device.Unavailable, "no GPU %q; there are %s", id, ids(list))
	}
	what := list[at]
	if err := gpu.Refuse(o); err != nil {
		return nil, device.Errorf(what.Name, call, device.Unsupported, "%w", err)
	}
	d, err := p.driver(what)
	if err != nil {
		return nil, device.Errorf(what.Name, call, device.Unavailable, "%w%s", err, taken(err, what))
	}
	return gpu.New(what, d), nil
}

// driver opens a GPU.
func (p Provider) driver(what device.Info) (gpu.Driver, error) {
	if p.open != nil {
		return p.open(what.ID)
	}
	return openDriver(what.ID)
}

// taken describes the memory that other processes use, if a lack of memory is the reason why a GPU
// cannot be opened.
func taken(err error, what device.Info) string {
	var e *cu.Error
	if !errors.As(err, &e) || e.Code != cu.OutOfMemory {
		return ""
	}
	return fmt.Sprintf("; %d of %d MiB are free, others have the rest", what.MemoryFree>>20,
		what.MemoryTotal>>20)
}

func ids(list []device.Info) string {
	var s []string
	for _, i := range list {
		s = append(s, i.ID)
	}
	return strings.Join(s, ", ")
}

var _ device.Provider = Provider{}
