package cuda

import (
	"context"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cuda/internal/ptx"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/plugins/internal/bitwise"
)

// machine adapts the PTX machine to package gpu. A kernel is taken from the first module that has it.
type machine struct {
	*ptx.Machine
	modules []*ptx.Module

	*recordings // nil: launches are not recorded
}

// modulesOf has the modules of devices by compute capability, as openDriver loads them.
var modulesOf = map[string][]string{
	"8.0": {gpu.MMA80PTX, gpu.DotPTX, gpu.PTX},
	"7.5": {gpu.MMA75PTX, gpu.DotPTX, gpu.PTX},
	"6.1": {gpu.DotPTX, gpu.PTX},
	"6.0": {gpu.PTX},
}

// entry returns a kernel, or nil if no module has it.
func (m machine) entry(kernel string) *ptx.Entry {
	for _, mod := range m.modules {
		if e := mod.Entries[kernel]; e != nil {
			return e
		}
	}
	return nil
}

func (m machine) Has(kernel string) bool { return m.entry(kernel) != nil }

func (m machine) Alloc(bytes int) (gpu.Buffer, error) {
	return gpu.Buffer(m.Machine.Alloc((bytes + 3) / 4 * 4)), nil // whole words: see Write
}

func (m machine) Free(b gpu.Buffer) error { return m.Machine.Free(uint64(b)) }

func (m machine) Write(to gpu.Buffer, at int, data []byte) error {
	for len(data)%4 != 0 { // buffers consist of whole words
		data = append(data[:len(data):len(data)], 0)
	}
	return m.Machine.Write(uint64(to)+uint64(at), data)
}

func (m machine) Read(list ...gpu.Transfer) func() error {
	for _, t := range list {
		if err := m.Machine.Read(t.Data, uint64(t.From)+uint64(t.At)); err != nil {
			return func() error { return err }
		}
	}
	return func() error { return nil }
}

func (m machine) Copy(to, from gpu.Buffer, n int) error {
	return m.Machine.Copy(uint64(to), uint64(from), n)
}

func (m machine) Launch(kernel string, groups [2]int, args []any) error {
	return m.Machine.Launch(m.entry(kernel), [3]int{groups[0], groups[1], 1}, [3]int{gpu.Threads, 1, 1},
		words(args)...)
}

func (m machine) Record(launches []gpu.Launch, _ int) (gpu.Recording, error) {
	return m.recordings.add(launches), nil
}

func (m machine) Replay(r gpu.Recording) error { return m.recordings.replay(r, m.Launch) }

func (m machine) Forget(r gpu.Recording) error { return m.recordings.forget(r) }

func (machine) Wait() error { return nil }

func (machine) Mark() (gpu.Mark, error) { return gpu.Mark(time.Now().UnixNano()), nil }

func (machine) Times(marks []gpu.Mark) (times []time.Duration, err error) {
	for i := range len(marks) - 1 {
		times = append(times, time.Duration(marks[i+1]-marks[i]))
	}
	return times, nil
}

func (machine) Close() error { return nil }

// onMachine provides a made-up GPU with the machine as its driver.
func onMachine(t *testing.T) Provider {
	return Provider{Library: fake(t, ""), open: func(string) (gpu.Driver, error) { return newMachine() }}
}

// newMachine returns a machine with the kernels of compute capability 8.0.
func newMachine() (gpu.Driver, error) { return machineOf("8.0") }

// machineOf returns a machine with the kernels of a compute capability.
func machineOf(capability string) (machine, error) {
	m := machine{Machine: ptx.New(), recordings: &recordings{}}
	for _, text := range modulesOf[capability] {
		module, err := m.Load(text)
		if err != nil {
			return m, err
		}
		m.modules = append(m.modules, module)
	}
	return m, nil
}

// openMachine opens a device on the PTX machine.
func openMachine(t *testing.T) device.Device {
	t.Helper()
	d, err := onMachine(t).Open(context.Background(), "GPU-aaaa", device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// TestCases checks that each case has the bits of the CPU, and that every launch ends without a
// ptx.Fault.
func TestCases(t *testing.T) {
	ctx := context.Background()
	cases, err := bitwise.Cases()
	if err != nil {
		t.Fatal(err)
	}
	cpu, err := bitwise.CPU(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	d := openMachine(t)
	for _, c := range cases {
		if err := bitwise.Compare(ctx, cpu, d, c.Program, []int{1, 0, 1}, bitwise.Uneven); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}
