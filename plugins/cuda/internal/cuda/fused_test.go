package cuda

import (
	"context"
	"os"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/plugins/internal/bitwise"
)

// fewer is a driver that counts launches.
type fewer struct {
	gpu.Driver
	launches *int
}

func (f fewer) Launch(kernel string, groups [2]int, args []any) error {
	*f.launches++
	return f.Driver.Launch(kernel, groups, args)
}

// Record records nothing, so that all launches are counted.
func (fewer) Record([]gpu.Launch, int) (gpu.Recording, error) { return 0, nil }

// TestFused checks that nodes in the epilogues of kernels have the bits that they have as separate launches,
// and those of the CPU, and that there are fewer launches. Without BNCTL_PTX it runs a part of the values.
func TestFused(t *testing.T) {
	ctx := context.Background()
	cases, err := bitwise.Fused()
	if err != nil {
		t.Fatal(err)
	}
	cpu, err := bitwise.CPU(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	separate, before := counting(t, gpu.NewSeparate)
	together, after := counting(t, gpu.New)
	for i, c := range cases {
		for v := bitwise.Normal; v <= bitwise.Sick; v++ {
			if os.Getenv("BNCTL_PTX") == "" && bitwise.Values(i%4) != v {
				continue
			}
			*before, *after = 0, 0
			rows := [][]int{{1, 0, 2}, {1}, {2, 3}}[i%3]
			if err := bitwise.Compare(ctx, separate, together, c.Program, rows, v); err != nil {
				t.Errorf("%s, values %d, against separate launches: %v", c.Name, v, err)
			}
			if *after >= *before {
				t.Errorf("%s: %d launches, %d if they are separate", c.Name, *after, *before)
			}
			if err := bitwise.Compare(ctx, cpu, together, c.Program, rows, v); err != nil {
				t.Errorf("%s, values %d, against the CPU: %v", c.Name, v, err)
			}
		}
	}
}

// counting opens a device on the PTX machine that counts launches.
func counting(t *testing.T, open func(device.Info, gpu.Driver) device.Device) (device.Device, *int) {
	t.Helper()
	machine, err := newMachine()
	if err != nil {
		t.Fatal(err)
	}
	n := new(int)
	d := open(anyGPU, fewer{machine, n})
	t.Cleanup(func() { d.Close() })
	return d, n
}
