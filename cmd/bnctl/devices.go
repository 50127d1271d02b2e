package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/train"
)

// deviceSet is the devices of a command.
type deviceSet struct{ *fleet.Fleet }

// noLimit allows any number of devices.
const noLimit = 0

// openDevices opens what --devices names at a precision, for at most replicas devices.
func openDevices(ctx context.Context, c *cli.Context, precision string, replicas int) (*deviceSet, error) {
	o, err := fleetOptions(c, precision, replicas)
	if err != nil {
		return nil, err
	}
	f, err := fleet.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &deviceSet{f}, nil
}

// tell lists the devices of the set: which is which process, for those who
// watch over them.
func (s *deviceSet) tell(o *output) {
	for _, m := range s.Members {
		info := m.Device.Info()
		e := newDeviceEvent(fleet.Listed{Name: m.Name, Plugin: s.Describe(m.Name), Device: info})
		e.Process, e.Ops = info.Process, nil
		o.event("device", e)
		if o.verbose {
			o.note("device %s: process %d, %s", m.Name, info.Process, info.Description)
		}
		if info.Note != "" {
			o.note("device %s: session at %s: %s", m.Name, info.Levels[0], info.Note)
		}
	}
}

// kernels returns the kernel class of the set: one name, or several joined by "+".
func (s *deviceSet) kernels() string {
	class, _ := train.KernelClass(s.Members)
	return class
}
