package cuda

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cuda/internal/ptx"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/plugins/gpu/bitwise"
)

// machine is the PTX machine as package gpu wants it.
type machine struct {
	*ptx.Machine
	module *ptx.Module
}

func newMachine(t *testing.T) machine {
	t.Helper()
	m := ptx.New()
	module, err := m.Load(gpu.PTX)
	if err != nil {
		t.Fatal(err)
	}
	return machine{m, module}
}

func (m machine) Alloc(bytes int) (gpu.Buffer, error) { return gpu.Buffer(m.Machine.Alloc(bytes)), nil }

func (m machine) Free(b gpu.Buffer) error { return m.Machine.Free(uint64(b)) }

func (m machine) Write(to gpu.Buffer, at int, data []byte) error {
	for len(data)%4 != 0 { // buffers are of whole words
		data = append(data[:len(data):len(data)], 0)
	}
	return m.Machine.Write(uint64(to)+uint64(at), data)
}

func (m machine) Read(data []byte, from gpu.Buffer, at int) error {
	return m.Machine.Read(data, uint64(from)+uint64(at))
}

func (m machine) Copy(to, from gpu.Buffer, n int) error {
	return m.Machine.Copy(uint64(to), uint64(from), n)
}

func (m machine) Launch(kernel string, groups [2]int, args []any) error {
	words := make([]uint64, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case gpu.Buffer:
			words[i] = uint64(a)
		case int32:
			words[i] = uint64(uint32(a))
		case float64:
			words[i] = math.Float64bits(a)
		}
	}
	return m.Machine.Launch(m.module.Entries[kernel], [3]int{groups[0], groups[1], 1},
		[3]int{gpu.Threads, 1, 1}, words...)
}

func (machine) Wait() error { return nil }

func (machine) Close() error { return nil }

// TestCases: each case that the device runs has the bits of the CPU, and no
// launch does what hardware would punish.
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
	d := gpu.New(device.Info{ID: "0", Name: "machine"}, newMachine(t))
	defer d.Close()
	for _, c := range cases {
		err := bitwise.Compare(ctx, cpu, d, c.Program, []int{1, 0, 1}, bitwise.Uneven)
		if err != nil && !errors.Is(err, device.Unsupported) {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}
