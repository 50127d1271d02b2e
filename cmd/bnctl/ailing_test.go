package main

import (
	"context"
	"os"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/graph"
)

// ailing is the main function of a device plugin. Its device dies in its third run, or hangs in every seventh
// run.
func ailing() { serve.Serve(ailingProvider{what: os.Args[1]}) }

type ailingProvider struct {
	ref.Provider
	what string
}

// Describe returns the name that scripts use for the plugin.
func (p ailingProvider) Describe() device.Plugin {
	return device.Plugin{Name: map[string]string{"panics": "ailing", "stalls": "stalling"}[p.what]}
}

func (p ailingProvider) Open(ctx context.Context, id string, o device.Options) (device.Device, error) {
	o.Kernels = ""
	d, err := p.Provider.Open(ctx, id, o)
	return ailingDevice{d, p.what}, err
}

type ailingDevice struct {
	device.Device
	what string
}

func (d ailingDevice) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable,
	error) {
	x, err := d.Device.Load(ctx, p, c)
	return &ailingExecutable{x, d.what, 0}, err
}

type ailingExecutable struct {
	device.Executable
	what string
	runs int
}

func (x *ailingExecutable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	switch x.runs++; {
	case x.what == "panics" && x.runs == 3:
		panic("the third run")
	case x.what == "stalls" && x.runs%7 == 0:
		time.Sleep(time.Hour) // a hanging device ignores ctx
	}
	return x.Executable.Run(ctx, s)
}
