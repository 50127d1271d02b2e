//go:build opencl

package opencl

import (
	"context"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/plugins/gpu"
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
func TestCases(t *testing.T) { compareAll(t, bitwise.Cases) }

// TestFused checks that nodes in the epilogues of kernels have the bits of the CPU.
func TestFused(t *testing.T) { compareAll(t, bitwise.Fused) }

func compareAll(t *testing.T, list func() ([]bitwise.Case, error)) {
	ctx := context.Background()
	cases, err := list()
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

// dots defines dot_4x8packed_us_int for compilers without cl_khr_integer_dot_product.
const dots = `
#ifndef cl_khr_integer_dot_product
#define cl_khr_integer_dot_product 1
#define __opencl_c_integer_dot_product_input_4x8bit_packed 1
int dot_4x8packed_us_int(uint a, uint b) {
	int4 p = convert_int4(as_uchar4(a)) * convert_int4(as_char4(b));
	return p.x + p.y + p.z + p.w;
}
#endif
`

// TestDotProducts checks the bits of products of bytes by dot_4x8packed_us_int.
func TestDotProducts(t *testing.T) {
	api, found, reason := Provider{}.find()
	if len(found) == 0 {
		t.Fatal(reason)
	}
	open := func(context.Context, string) (device.Device, error) {
		q, err := api.Open(found[0], dots+gpu.Source(), "")
		if err != nil {
			return nil, err
		}
		return gpu.New(info(0, found[0]), driver{q, found[0].Largest}), nil
	}
	count := 0
	for _, c := range devicetest.Cases() {
		if !strings.HasPrefix(c.Name, "conv_int8") && !strings.HasPrefix(c.Name, "dense_int8") {
			continue
		}
		count++
		if r := c.Judge(t.Context(), open, device.F32); r.Err != nil {
			t.Errorf("%s: %v", c.Name, r.Err)
		}
	}
	if count < 20 {
		t.Errorf("%d cases, want 20 at least", count)
	}
}

// TestConformance checks that the device keeps the contract, and has the bits of the class that it claims.
func TestConformance(t *testing.T) {
	devicetest.Run(t, func(ctx context.Context, precision string) (device.Device, error) {
		return Provider{}.Open(ctx, "0", device.Options{Precision: precision})
	})
}
