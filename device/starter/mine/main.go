// Command bnctl-device-mine is a device plugin to start from: it computes everything as the
// reference does, in plain loops, and so it is right from the beginning. Make it fast from there:
// compute in run what you have kernels for, and leave the rest to the reference.
//
//	go build -o bnctl-device-mine . && bnctl plugin test ./bnctl-device-mine
package main

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// name is what --devices calls the device.
const name = "mine"

// provider says what the plugin is, what its device can do, and how it is opened. Kernels is the
// kernel class: devices of one class give the same bits (docs/classes.md). It is a class of this
// plugin's own, so a kernel of yours may sum in an order of its own.
var provider = lifecycle.Provider{
	Plugin: device.Plugin{Name: name, Version: "0.1", About: "a device to start from"},
	Info: device.Info{Description: "plain loops, float64 sums", Kernels: name, Ops: ref.Ops(),
		Features: ref.Features(), Precisions: device.Precisions()},
	Start: func(_ context.Context, o device.Options) (lifecycle.Backend, error) { return backend{o}, nil },
}

func main() { serve.Main(provider) }

// backend is the opened device.
type backend struct{ options device.Options }

// Load prepares a program to be run within a capacity. It may refuse nodes: see device.Refused.
func (b backend) Load(p *graph.Program, _ device.Capacity) (lifecycle.Runner, error) {
	reference, err := ref.Load(p, b.options.Precision)
	if err != nil {
		return nil, err
	}
	return lifecycle.NewHostRunner(p, program{reference}.run), nil
}

// program is a loaded program.
type program struct{ reference *ref.Program }

// run computes the function s.Func of the inputs and the state, and returns its outputs and updates.
func (x program) run(ctx context.Context, s lifecycle.Step, state map[string]tensor.Tensor) (
	lifecycle.Result, error) {
	return x.reference.Run(ctx, s, state)
}
