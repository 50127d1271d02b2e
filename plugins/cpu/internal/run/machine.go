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
	// FourBytes makes maps of bfloat16 use four bytes per element (halve.go). Tests compare this with two
	// bytes.
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
