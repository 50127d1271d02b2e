package cpu

import (
	"context"
	"fmt"
	"runtime"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/machine"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
	"github.com/bnctl/bnctl/plugins/cpu/internal/workers"
)

// Provider provides the CPU of this machine as a device, any number of times.
type Provider struct {
	// Shared is for a process that also does other work. Waiting workers leave their threads to its
	// goroutines. The rates of the machine are assumed, not measured, and no file is written.
	Shared bool
}

// Describe names the plugin.
func (Provider) Describe() device.Plugin {
	return device.Plugin{Name: "cpu", Version: "1", About: "the processor: AMX, AVX-512, AVX2 or plain Go"}
}

// List returns the CPU as the only device.
func (Provider) List(context.Context) ([]device.Info, string, error) {
	return []device.Info{describe(machine.System(), kernel.Sets()[0], runtime.GOMAXPROCS(0), device.F32)}, "",
		nil
}

// mostThreads is far above the number of threads of any machine.
const mostThreads = 1024

// Open starts a pool of workers.
func (p Provider) Open(_ context.Context, id string, o device.Options) (device.Device, error) {
	b, err := open(id, o, p.Shared)
	if err != nil {
		return nil, err
	}
	return lifecycle.New(b.info, b), nil
}

func open(id string, o device.Options, shared bool) (*backend, error) {
	fail := func(format string, args ...any) (*backend, error) {
		return nil, device.Errorf("cpu", "Open", device.Invalid, format, args...)
	}
	class := o.Kernels
	if class == "" {
		class = "auto"
	}
	precision, unknown := device.ParsePrecision(o.Precision)
	set, err := kernel.Pick(class, precision == device.BF16)
	switch {
	case id != "" && id != device.DefaultID:
		return fail("there is no device %q; the processor is %q", id, device.DefaultID)
	case err != nil:
		return fail("%w", err)
	case o.Threads < 0 || o.Threads > mostThreads:
		return fail("%d threads, want 1 to %d, or 0 for all", o.Threads, mostThreads)
	case unknown != nil:
		return nil, device.Errorf("cpu", "Open", device.Unsupported, "%w", unknown)
	}
	threads := o.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	here := machine.System()
	reached := rates{Rates: machine.Typical}
	if !shared {
		reached = ratesOf(here, set)
	}
	b := &backend{described: describe(here, set, threads, precision),
		machine: run.Machine{Kernels: set, Schedule: schedule.For(here, reached.Rates),
			Pool: workers.NewPool(threads, shared), Reduced: precision == device.BF16}}
	if reached.note != "" {
		b.described.Description += "; " + reached.note
	}
	return b, nil
}

// describe returns the Info of a device with these kernels on this machine, at a precision.
func describe(host machine.Description, set *kernel.Set, threads int, precision string) device.Info {
	total, free := memory.Machine()
	description := fmt.Sprintf("%s, %d threads, %s kernels", host.Processor, threads, set.Name)
	for _, a := range host.Assumed {
		description += "; assumed: " + a
	}
	return device.Info{
		ID: device.DefaultID, Name: "cpu",
		Description: description,
		MemoryTotal: total, MemoryFree: free, Kernels: set.Class, Threads: threads, Ops: Ops(),
		Classes: class.Numbered(set.Class, precision),
		Features: []string{device.Deterministic, device.ExactUpdates, device.FiniteUpdates,
			device.Profile, device.Slots},
		Levels: []string{device.InProcess}, Precisions: device.Precisions(),
	}
}
