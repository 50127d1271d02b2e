package cpu

import (
	"github.com/bnctl/bnctl/device/serve"
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

// Main serves the CPU device to the host that started this process, and does
// not return before the host is done.
func Main() { serve.Main(Provider{}) }
