package ref

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
)

// backend loads programs for a reference device.
type backend struct {
	name       string
	ops        []graph.Op
	precisions []string
	bf16       bool   // opened at precision device.BF16
	class      string // class with the definitions that the device computes; "": the default
}

// New returns a reference device that uses name in errors and logs. It refuses the given operations, like a
// device that does not have them. Its only precision is device.F32; the devices of Provider have all
// precisions.
func New(name string, refused ...graph.Op) device.Device {
	b := backend{name: name, precisions: []string{device.F32}}
	b.ops = slices.DeleteFunc(Ops(), func(o graph.Op) bool { return slices.Contains(refused, o) })
	return b.device()
}

// device returns the device that loads programs with b.
func (b backend) device() device.Device { return lifecycle.New(b.info, b) }

func (b backend) info() device.Info {
	info := b.unnumbered()
	precision := device.F32
	if b.bf16 {
		precision = device.BF16
	}
	info.Classes = class.Numbered(info.Kernels, precision)
	return info
}

// unnumbered describes the device without Info.Classes.
func (b backend) unnumbered() device.Info {
	info := device.Info{
		ID: device.DefaultID, Name: b.name, Description: "reference device: plain loops, float64 sums",
		Kernels: class.Ref, Threads: 1, Ops: slices.Clone(b.ops), Features: Features(),
		Levels: []string{device.InProcess}, Precisions: slices.Clone(b.precisions),
	}
	if b.class != "" {
		info.Description, info.Kernels = "the definitions of class "+b.class+", in plain loops", b.class
		// Folded nodes have no separate times.
		info.Features = slices.DeleteFunc(info.Features, func(f string) bool { return f == device.Profile })
	}
	return info
}

// Features returns the features of a device that runs programs with Load of this package.
func Features() []string {
	return []string{device.Deterministic, device.ExactUpdates, device.FiniteUpdates, device.Profile,
		device.Slots}
}

// Ops returns the operations that have a loop here, in the order of their numbers: all
// except the host's operations.
func Ops() []graph.Op {
	ops := []graph.Op{graph.AllReduce}
	for o := range loops {
		ops = append(ops, o)
	}
	slices.Sort(ops)
	return ops
}

// Load implements lifecycle.Backend.
func (b backend) Load(p *graph.Program, _ device.Capacity) (lifecycle.Runner, error) {
	x, err := b.load(p)
	if err != nil {
		return nil, err
	}
	return lifecycle.NewHostRunner(p, x.Run), nil
}
