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
	for i, d := range s.Opened() {
		o.event("device", d)
		if o.verbose {
			o.note("device %s: process %d, %s", d.Name, d.Process, d.Description)
		}
		if info := s.Members[i].Device.Info(); info.Note != "" {
			o.note("device %s: session at %s: %s", d.Name, info.Levels[0], info.Note)
		}
	}
}

// kernels returns the kernel class of the set: one name, or several joined by "+".
func (s *deviceSet) kernels() string {
	class, _ := train.KernelClass(s.Members)
	return class
}
