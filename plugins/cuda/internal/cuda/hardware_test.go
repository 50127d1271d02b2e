//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/plugins/gpu/bitwise"
)

// pool keeps the contexts of devices that were closed for the next: one takes a third of a second, and
// conformance opens a device for every case.
type pool struct {
	mu   sync.Mutex
	free []gpu.Driver
}

func (p *pool) open(uuid string) (gpu.Driver, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		d := p.free[n-1]
		p.free = p.free[:n-1]
		return pooled{d, p}, nil
	}
	d, err := openDriver(uuid)
	return pooled{d, p}, err
}

// pooled is a driver that goes back to its pool.
type pooled struct {
	gpu.Driver
	of *pool
}

func (d pooled) Close() error {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	d.of.free = append(d.of.free, d.Driver)
	return nil
}

var contexts pool

// opened opens the first GPU of this machine.
func opened(ctx context.Context, precision string) (device.Device, error) {
	list, reason, err := Provider{}.List(ctx)
	if err == nil && len(list) == 0 {
		err = errors.New("no GPU: " + reason)
	}
	if err != nil {
		return nil, err
	}
	return Provider{open: contexts.open}.Open(ctx, list[0].ID, device.Options{Precision: precision})
}

// openHardware opens it for a test of make test-cuda.
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

// TestHardwareKernels logs what the driver's compiler made of each kernel.
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
