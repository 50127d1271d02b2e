package run

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
	"github.com/bnctl/bnctl/plugins/cpu/internal/workers"
)

// Machine is what programs run on.
type Machine struct {
	Kernels *kernel.Set
	Reduced bool // the precision is device.BF16
	// FourBytes keeps maps of bfloat16 in float32 (plan/half.go), to be compared with.
	FourBytes bool
	Pool      *workers.Pool
	Group     *device.Group // nil: this device holds all replicas
	Schedule  schedule.Schedule
}

// Memory is what a loaded program has of memory: its state, its packed weights,
// and the arena with everything that a run computes.
type Memory struct {
	States  map[string]*State
	Blank   bool // some of them may have no memory yet
	Packs   map[string]Packed
	Reserve Reserve // for packs
	Passing Passing // of packs in a last run
	Kept    []*Slot // what train keeps for commit
	Arena   []byte
	Lanes   int // where the memory of lanes begins in the arena
	Lane    int // bytes of a lane: what a row has while it passes through a group
}

// fillBlank gives memory to what was not written before the first run.
func (m *Memory) fillBlank() {
	if m.Blank {
		for _, s := range m.States {
			s.Bytes()
		}
		m.Blank = false
	}
}

// StateBytes returns the size of all state.
func (m *Memory) StateBytes() (n int) {
	for _, s := range m.States {
		n += s.Size()
	}
	return n
}

// Packed is weights in some order, made for one filter and shared by the nodes
// that want them so.
type Packed interface {
	Bytes() int64
}

// Worker is a thread of execution with memory of its own.
type Worker = workers.Worker

// Precision returns the name of the precision.
func (m *Machine) Precision() string {
	if m.Reduced {
		return device.BF16
	}
	return device.F32
}
