package gpu

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// backend loads programs for a device of a driver.
type backend struct {
	info     device.Info
	driver   Driver
	records  bool // the driver records launches; it has not failed to
	separate bool // every node is a launch
}

// Describe returns info with the abilities that this package gives a device:
// operations, features, precisions and kernel class.
func Describe(info device.Info) device.Info {
	info.Kernels = class.FMA
	info.Ops = ops()
	info.Features = []string{device.Deterministic, device.ExactUpdates, device.FiniteUpdates, device.Profile,
		device.Slots}
	info.Levels = []string{device.InProcess}
	info.Precisions = []string{device.F32}
	info.Classes = class.Numbered(info.Kernels, device.F32)
	return info
}

// Refuse returns an error if a device cannot be opened with these options.
func Refuse(o device.Options) error {
	switch {
	case o.Precision != "" && o.Precision != device.F32:
		return problem.Advise("use {precision} "+device.F32, "precision %s is computed by CPUs only, as its "+
			"flushing of subnormals cannot be said to a GPU", o.Precision)
	case o.Kernels != "" && o.Kernels != "auto" && o.Kernels != class.FMA:
		return fmt.Errorf("kernels %q run on CPUs only; this device has %s", o.Kernels, class.FMA)
	}
	return nil
}

// New returns the device of a driver. info describes the hardware; New adds its
// abilities (Describe).
func New(info device.Info, driver Driver) device.Device {
	b := &backend{info: Describe(info), driver: driver, records: true}
	return lifecycle.New(func() device.Info { return b.info }, b)
}

// NewSeparate is New without epilogues, for tests.
func NewSeparate(info device.Info, driver Driver) device.Device {
	b := &backend{info: Describe(info), driver: driver, separate: true}
	return lifecycle.New(func() device.Info { return b.info }, b)
}

// ops returns the operations that the device runs, by number.
func ops() []graph.Op {
	var all []graph.Op
	for op := range builders {
		all = append(all, op)
	}
	slices.Sort(all)
	return all
}

// Load implements lifecycle.Backend: it lowers p to launches.
func (b *backend) Load(p *graph.Program, c device.Capacity) (lifecycle.Runner, error) {
	e := &executable{backend: b, program: p, states: map[string]*state{}, functions: map[string]*function{},
		retained: map[string]*value{}}
	if err := e.prepare(c); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// read copies from a buffer to data, and waits.
func (b *backend) read(data []byte, from Buffer, at int) error {
	return b.driver.Read(Transfer{data, from, at})()
}

// Close frees the driver.
func (b *backend) Close() error { return b.driver.Close() }

// checkMemory returns an error if the device has less memory than the given number of bytes.
func (b *backend) checkMemory(want float64) error {
	return lifecycle.CheckMemory(want, b.info.MemoryTotal, "in all")
}
