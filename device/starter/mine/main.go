// Command bnctl-device-mine is a device plugin to start from. It computes everything with the loops of
// the reference device, so its results are right from the beginning. To make it fast, replace operations
// by your kernels, as shown for relu, and leave the rest to the reference.
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
)

// name is the name of the device for --devices.
const name = "mine"

// provider describes the plugin and the features of its device, and opens the device.
// Kernels is the kernel class: devices of one class give the same bits (docs/classes.md).
// This plugin has a separate class, so your kernels may sum in any order.
var provider = lifecycle.Provider{
	Plugin: device.Plugin{Name: name, Version: "0.1", About: "a device to start from"},
	Info: device.Info{Description: "plain loops, float64 sums", Kernels: name, Ops: ref.Ops(),
		Features: ref.Features(), Precisions: device.Precisions()},
	Start: func(_ context.Context, o device.Options) (lifecycle.Backend, error) { return backend{o}, nil },
}

func main() { serve.Main(provider) }

// backend is the opened device.
type backend struct{ options device.Options }

// Load prepares a program for runs within a capacity. It may refuse nodes: see device.Refused.
func (b backend) Load(p *graph.Program, _ device.Capacity) (lifecycle.Runner, error) {
	reference, err := ref.Load(p, b.options.Precision)
	if err != nil {
		return nil, err
	}
	reference.Replace(graph.Relu, relu)
	return lifecycle.NewHostRunner(p, reference.Run), nil
}

// relu is a kernel for one operation. If a kernel returns false, the reference computes the node.
func relu(c *ref.Call) (ok bool, err error) {
	y := c.Out[0].F32()
	for i, x := range c.In[0].F32() {
		y[i] = max(x, 0)
	}
	return true, nil
}
