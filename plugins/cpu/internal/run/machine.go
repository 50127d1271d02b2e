package run

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
	"github.com/bnctl/bnctl/plugins/cpu/internal/workers"
)

// Machine has the workers, the kernels and the settings with which programs run.
type Machine struct {
	Kernels *kernel.Set
	Reduced bool // the precision is device.BF16
	// FourBytes stores maps of bfloat16 as float32 (halve.go), so that tests can compare both.
	FourBytes bool
	Pool      *workers.Pool
	Group     *device.Group // nil: this device holds all replicas
	Schedule  schedule.Schedule
}

// Worker is a thread of execution with private memory.
type Worker = workers.Worker

// Precision returns the name of the precision.
func (m *Machine) Precision() string {
	if m.Reduced {
		return device.BF16
	}
	return device.F32
}
