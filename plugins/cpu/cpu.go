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

// Limits holds the peak rates of the machine.
type Limits = cpu.Limits

// Measure measures the peak rates of a number of threads, in a fifth of a second. kernels
// is a kernel class, or "auto".
func Measure(kernels string, threads int) (Limits, error) { return cpu.Measure(kernels, threads) }

// Describe returns a description of this machine, as lines of text: its processor, caches and cores,
// which of these values are assumed, and the rates of a core. The rates are measured once and kept in the
// user's cache folder. kernels is as for Measure.
func Describe(kernels string) ([]string, error) { return cpu.Describe(kernels) }

// Plan describes how a CPU device divides the functions of a program into groups and
// chains, and how long they should take.
type Plan = cpu.Plan

// PlanOf returns the plan of a CPU device for the functions of p, in runs of the given number of rows. The
// device is one that is opened with o on this machine. Nothing is run.
func PlanOf(ctx context.Context, p *graph.Program, o device.Options, rows int) (*Plan, error) {
	return cpu.PlanOf(ctx, p, o, rows)
}

// Main serves the CPU device to the host that started this process, and returns
// when the host has ended the session.
func Main() { serve.Main(Provider{}) }
