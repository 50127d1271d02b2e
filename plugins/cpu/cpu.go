package cpu

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/cpu"
)

// Provider opens CPU devices. It implements device.Provider.
type Provider = cpu.Provider

// Limits is what the machine can do at most.
type Limits = cpu.Limits

// Measure measures the limits of a number of threads, in a fifth of a second.
// kernels is a kernel class, or "auto".
func Measure(kernels string, threads int) (Limits, error) { return cpu.Measure(kernels, threads) }

// Describe returns what this machine is, as lines for a person: its processor,
// caches and cores, what of that was assumed, and the rates of a core, measured
// once and kept in the user's cache folder. kernels is as for Measure.
func Describe(kernels string) ([]string, error) { return cpu.Describe(kernels) }

// Plan returns how a CPU device that is opened with o cuts the functions of p on
// this machine, as lines for a person.
func Plan(ctx context.Context, p *graph.Program, o device.Options) ([]string, error) {
	return cpu.Plan(ctx, p, o)
}

// Main serves the CPU device to the host that started this process, and does
// not return before the host is done.
func Main() { serve.Main(Provider{}) }
