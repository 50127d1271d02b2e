//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/plugins/gpu/bitwise"
)

// opened opens the first GPU of this machine.
func opened(ctx context.Context, precision string) (device.Device, error) {
	list, reason, err := Provider{}.List(ctx)
	if err == nil && len(list) == 0 {
		err = errors.New("no GPU: " + reason)
	}
	if err != nil {
		return nil, err
	}
	return Provider{}.Open(ctx, list[0].ID, device.Options{Precision: precision})
}

// openHardware opens it for a test of make test-cuda or bench-cuda.
func openHardware(t testing.TB) device.Device {
	t.Helper()
	d, err := opened(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestHardwareConformance(t *testing.T) {
	openHardware(t).Close() // before anything is computed
	devicetest.Run(t, opened)
}

func TestHardwareCases(t *testing.T) {
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
	d := openHardware(t)
	for _, c := range cases {
		for v := bitwise.Normal; v <= bitwise.Sick; v++ {
			if err := bitwise.Compare(ctx, cpu, d, c.Program, []int{2, 0, 3, 1}, v); err != nil {
				t.Errorf("%s, values %d: %v", c.Name, v, err)
			}
		}
	}
}

// TestHardwareTraining: networks become on the GPU, and on it beside the CPU, what
// they become on the CPU.
func TestHardwareTraining(t *testing.T) {
	ctx := context.Background()
	openHardware(t).Close() // before anything is computed
	cpu := func() device.Device {
		d, err := bitwise.CPU(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	for _, run := range []bitwise.Run{
		{Model: "lenet-bn", Side: 28, BN: bn.Sync, Batch: 64, Replicas: 8, Steps: 20},
		{Model: "resnet20", Side: 32, BN: bn.Sync, Batch: 64, Replicas: 8, Steps: 20},
		{Model: "resnet20", Side: 32, BN: bn.Replica, Batch: 64, Replicas: 8, Steps: 20},
		{Model: "mobilenetv2", Side: 64, BN: bn.Sync, Batch: 16, Replicas: 4, Steps: 5},
		{Model: "resnet18", Side: 64, BN: bn.Sync, Batch: 16, Replicas: 4, Steps: 5},
	} {
		on := func(devices ...device.Device) (members []parallel.Member) {
			for i, d := range devices {
				members = append(members, parallel.Member{Name: fmt.Sprint(i), Device: d})
			}
			return members
		}
		want, err := run.Train(ctx, on(cpu()))
		if err != nil {
			t.Fatal(err)
		}
		for name, members := range map[string][]parallel.Member{"cuda": on(openHardware(t)),
			"cuda,cpu": on(openHardware(t), cpu())} {
			got, err := run.Train(ctx, members)
			if err == nil {
				err = bitwise.Differs(got, want)
			}
			if err != nil {
				t.Errorf("%s on %s: %v", run.Model, name, err)
			}
		}
	}
}

func BenchmarkHardware(b *testing.B) {
	ctx := context.Background()
	for name, side := range map[string]int{"resnet50": 224, "mobilenetv2": 224} {
		d := openHardware(b)
		b.Run(name+" infer", func(b *testing.B) {
			const rows = 64
			p, err := bitwise.Model(name, side)
			if err != nil {
				b.Fatal(err)
			}
			run, done, err := bitwise.Repeated(ctx, d, p, rows)
			if err != nil {
				b.Fatal(err)
			}
			defer done()
			for b.Loop() {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "images/s")
		})
		b.Run(name+" train", func(b *testing.B) {
			run := bitwise.Run{Model: name, Side: side, BN: bn.Sync, Batch: 64, Replicas: 8, Steps: 4}
			for b.Loop() {
				if _, err := run.Train(ctx, []parallel.Member{{Name: "cuda", Device: d}}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(run.Batch*run.Steps*b.N)/b.Elapsed().Seconds(), "images/s")
		})
	}
}

// BenchmarkHardwareKernels prints what the driver's compiler made of each kernel.
func BenchmarkHardwareKernels(b *testing.B) {
	list, reason, err := Provider{}.List(context.Background())
	if err != nil || len(list) == 0 {
		b.Fatal(reason, err)
	}
	d, err := openDriver(list[0].ID)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for _, m := range regexp.MustCompile(`\.entry (\w+)\(`).FindAllStringSubmatch(gpu.PTX, -1) {
		f, err := d.(driver).x.Figures(m[1])
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("%s: %d registers, %d bytes shared, %d bytes spilled", m[1], f.Registers, f.Shared, f.Spilled)
	}
}
