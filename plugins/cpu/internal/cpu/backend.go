package cpu

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// backend loads programs for a CPU device. It has a pool of workers.
type backend struct {
	machine   run.Machine
	described device.Info
}

// info returns the current description of the device.
func (b *backend) info() device.Info {
	info := b.described
	info.MemoryTotal, info.MemoryFree = memory.Machine()
	return info
}

// Load implements lifecycle.Backend.
func (b *backend) Load(p *graph.Program, c device.Capacity) (lifecycle.Runner, error) {
	r, err := b.load(p, c)
	if err != nil {
		return nil, err
	}
	return r, nil
}

var _ lifecycle.SlotBackend = (*backend)(nil)

// LoadStage implements lifecycle.SlotBackend.
func (b *backend) LoadStage(p *graph.Program, c device.Capacity) (lifecycle.SlotRunner, error) {
	r, err := b.load(p, c)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Close ends the workers.
func (b *backend) Close() error {
	b.machine.Pool.Close()
	return nil
}

// checkMemory returns an error if the given number of further bytes is not available.
func checkMemory(want float64) error {
	_, free := memory.Machine()
	return lifecycle.CheckMemory(want, free, "free")
}
