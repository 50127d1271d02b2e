//go:build opencl

package opencl

import (
	"context"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/plugins/internal/bitwise"
)

func open(t *testing.T) device.Device {
	t.Helper()
	d, err := Provider{}.Open(context.Background(), "0", device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// TestCases checks that each case has the bits of the CPU.
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
	d := open(t)
	for _, c := range cases {
		for v := bitwise.Normal; v <= bitwise.Sick; v++ {
			err := bitwise.Compare(ctx, cpu, d, c.Program, []int{2, 0, 3, 1}, v)
			if err != nil {
				t.Errorf("%s, values %d: %v", c.Name, v, err)
			}
		}
	}
}

// TestModels checks that whole models predict with the bits of the CPU.
func TestModels(t *testing.T) {
	ctx := context.Background()
	cpu, err := bitwise.CPU(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	d := open(t)
	for name, side := range map[string]int{"resnet20": 32, "mobilenetv2": 64, "lenet-bn": 28} {
		p, err := bitwise.Model(name, side)
		if err != nil {
			t.Fatal(err)
		}
		if err := bitwise.Compare(ctx, cpu, d, p, []int{2, 1}, bitwise.Normal); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestConformance checks that the device keeps the contract, and has the bits of the class that it claims.
func TestConformance(t *testing.T) {
	devicetest.Run(t, func(ctx context.Context, precision string) (device.Device, error) {
		return Provider{}.Open(ctx, "0", device.Options{Precision: precision})
	})
}
