//go:build opencl

package opencl

import (
	"context"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/plugins/internal/bitwise"
)

// counted is a driver that measures the processor time of the threads that call it. This is the time that
// launches and copies cost the host.
type counted struct {
	driver
	host *time.Duration
}

// count begins to measure, and returns a function that ends the measurement.
func (c counted) count() func() {
	runtime.LockOSThread()
	began := spent(unix.CLOCK_THREAD_CPUTIME_ID)
	return func() {
		*c.host += spent(unix.CLOCK_THREAD_CPUTIME_ID) - began
		runtime.UnlockOSThread()
	}
}

func (c counted) Launch(kernel string, groups [2]int, args []any) error {
	defer c.count()()
	return c.driver.Launch(kernel, groups, args)
}

func (c counted) Write(to gpu.Buffer, at int, data []byte) error {
	defer c.count()()
	return c.driver.Write(to, at, data)
}

func (c counted) Read(list ...gpu.Transfer) func() error {
	defer c.count()()
	return c.driver.Read(list...)
}

func (c counted) Wait() error {
	defer c.count()()
	return c.driver.Wait()
}

// spent returns the processor time that a clock of the system shows.
func spent(clock int32) time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(clock, &t) // the clocks of this thread and process exist
	return time.Duration(t.Nano())
}

// openCounted opens the first device.
func openCounted(b *testing.B, host *time.Duration) device.Device {
	b.Helper()
	api, found, reason := Provider{}.find()
	if len(found) == 0 {
		b.Fatal(reason)
	}
	q, err := api.Open(found[0], gpu.Source(), "")
	if err != nil {
		b.Fatal(err)
	}
	return gpu.New(info(0, found[0]), counted{driver{q, found[0].Largest}, host})
}

// report reports the processor time of the process per image, and the host's part in percent of the
// duration of a step. If nothing else runs, a step lasts all divided by the number of CPUs.
func report(b *testing.B, images int, all, host time.Duration) {
	b.ReportMetric(all.Seconds()*1e3/float64(images), "cpu-ms/image")
	if host > 0 {
		b.ReportMetric(100*float64(host)*float64(runtime.NumCPU())/float64(all), "host-%")
	}
}

// BenchmarkNetworks measures networks on the OpenCL device, and on the CPU device in
// classes fma and generic.
func BenchmarkNetworks(b *testing.B) {
	ctx, host := context.Background(), new(time.Duration)
	for _, on := range []string{"opencl", "fma", "generic"} {
		d, err := device.Device(nil), error(nil)
		if on == "opencl" {
			d = openCounted(b, host)
		} else if d, err = bitwise.InClass(ctx, on); err != nil {
			b.Fatal(err)
		}
		for name, side := range map[string]int{"resnet20": 32, "mobilenetv2": 64} {
			b.Run(name+" infer "+on, func(b *testing.B) { infer(b, d, host, name, side) })
			b.Run(name+" train "+on, func(b *testing.B) { train(b, d, host, name, side) })
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

const imagesOfBatch = 16

func infer(b *testing.B, d device.Device, host *time.Duration, name string, side int) {
	p, err := bitwise.Model(name, side)
	if err != nil {
		b.Fatal(err)
	}
	run, done, err := bitwise.Repeated(context.Background(), d, p, imagesOfBatch)
	if err != nil {
		b.Fatal(err)
	}
	defer done()
	if err := run(); err != nil { // the first run builds kernels
		b.Fatal(err)
	}
	*host = 0
	began, n := spent(unix.CLOCK_PROCESS_CPUTIME_ID), 0
	for ; b.Loop(); n += imagesOfBatch {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	report(b, n, spent(unix.CLOCK_PROCESS_CPUTIME_ID)-began, *host)
}

// train measures training steps: the time of five steps minus the time of one.
func train(b *testing.B, d device.Device, host *time.Duration, name string, side int) {
	steps := func(n int) (all, hosts time.Duration) {
		*host = 0
		began := spent(unix.CLOCK_PROCESS_CPUTIME_ID)
		run := bitwise.Run{Model: name, Side: side, BN: bn.Sync, Batch: imagesOfBatch, Replicas: 2, Steps: n}
		if _, err := run.Train(context.Background(), []parallel.Member{{Name: "0", Device: d}}); err != nil {
			b.Fatal(err)
		}
		return spent(unix.CLOCK_PROCESS_CPUTIME_ID) - began, *host
	}
	steps(1) // the first step builds kernels
	var all, hosts time.Duration
	n := 0
	for ; b.Loop(); n += 4 * imagesOfBatch {
		one, oneHost := steps(1)
		five, fiveHost := steps(5)
		all, hosts = all+five-one, hosts+fiveHost-oneHost
	}
	report(b, n, all, hosts)
}
