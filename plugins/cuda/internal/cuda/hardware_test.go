//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/plugins/internal/bitwise"
)

var contexts = pool{create: func(uuid string) (gpu.Driver, error) { return openDriver(uuid) }}

// instead provides the interpreter of PTX in place of a GPU, to try the tests that need hardware.
var instead = pool{create: func(string) (gpu.Driver, error) { return newMachine() }}

// opened opens the first GPU of this machine. With BNCTL_PTX=instead it opens the interpreter.
func opened(ctx context.Context, precision string) (device.Device, error) {
	if os.Getenv("BNCTL_PTX") == "instead" {
		return openInstead(precision)
	}
	list, reason, err := Provider{}.List(ctx)
	if err == nil && len(list) == 0 {
		err = errors.New("no GPU: " + reason)
	}
	if err != nil {
		return nil, err
	}
	return Provider{open: contexts.open}.Open(ctx, list[0].ID, device.Options{Precision: precision})
}

func openInstead(precision string) (device.Device, error) {
	if err := gpu.Refuse(device.Options{Precision: precision}); err != nil {
		return nil, device.Errorf(anyGPU.Name, "Open", device.Unsupported, "%w", err)
	}
	d, err := instead.open("")
	if err != nil {
		return nil, err
	}
	return gpu.New(anyGPU, d), nil
}

// openHardware opens the first GPU for a test of make test-cuda.
func openHardware(t *testing.T) device.Device {
	t.Helper()
	d, err := opened(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestHardwareConformance(t *testing.T) {
	openHardware(t).Close() // if there is no GPU, the test fails before anything is computed
	t.Logf("%d cases", len(devicetest.Cases()))
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
	t.Logf("%d cases, each with %d kinds of values", len(cases), bitwise.Sick-bitwise.Normal+1)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			for v := bitwise.Normal; v <= bitwise.Sick; v++ {
				if err := bitwise.Compare(ctx, cpu, d, c.Program, []int{2, 0, 3, 1}, v); err != nil {
					t.Errorf("values %d: %v", v, err)
				}
			}
		})
	}
}

// TestHardwareUnits checks that layers of bytes have the bits of device/ref on both sides of the edges of tiles.
func TestHardwareUnits(t *testing.T) {
	d, by, layers := openHardware(t), definition(t), unitLayers()
	t.Logf("%d cases", len(layers))
	for _, l := range layers {
		t.Run(l.String(), func(t *testing.T) {
			want, err := l.compute(t, by)
			if err == nil {
				err = l.differs(t, d, want)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestHardwareTraining checks that training on the GPU, and on the GPU and the CPU
// together, gives the same networks as training on the CPU.
func TestHardwareTraining(t *testing.T) {
	ctx := context.Background()
	openHardware(t).Close() // if there is no GPU, the test fails before anything is computed
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
		t.Run(run.Model+" "+string(run.BN), func(t *testing.T) {
			want, err := run.Train(ctx, members(cpu()))
			if err != nil {
				t.Fatal(err)
			}
			for name, on := range map[string][]parallel.Member{"cuda": members(openHardware(t)),
				"cuda,cpu": members(openHardware(t), cpu())} {
				t.Run(name, func(t *testing.T) {
					got, err := run.Train(ctx, on)
					if err == nil {
						err = bitwise.Differs(got, want)
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

func members(devices ...device.Device) (list []parallel.Member) {
	for i, d := range devices {
		list = append(list, parallel.Member{Name: fmt.Sprint(i), Device: d})
	}
	return list
}

// TestHardwareKernels logs the figures of each kernel as compiled by the driver.
func TestHardwareKernels(t *testing.T) {
	list, reason, err := Provider{}.List(context.Background())
	if err != nil || len(list) == 0 {
		t.Fatal(reason, err)
	}
	d, err := openDriver(list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, m := range regexp.MustCompile(`\.entry (\w+)\(`).FindAllStringSubmatch(gpu.PTX, -1) {
		f, err := d.(driver).x.Figures(m[1])
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d registers, %d bytes shared, %d bytes of local memory", m[1], f.Registers, f.Shared, f.Local)
	}
}
