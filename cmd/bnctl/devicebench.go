package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/plugins/cpu"
)

func devicesBenchCommand() *cli.Command {
	return &cli.Command{
		Name:      "bench",
		Usage:     "how fast a device is: single operations, a call, an exchange between two",
		ArgsUsage: "NAME",
		Description: `Measures the operations that most time goes into, as the device tells their time;
what a call costs that does nothing; and what two of the device need to exchange
values. Of a CPU also what the machine can do at most, on registers and in memory.

   bnctl devices bench cpu
   bnctl devices bench cpu --threads 1 --case conv --json
   bnctl devices bench cpu --precision bf16
   bnctl devices bench mine --device-plugin ./bnctl-device-mine --allow-unlocked`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "case", Usage: "only what has `TEXT` in its name: conv, limit, exchange"},
			&cli.Float64Flag{Name: "seconds", Value: 0.3, Usage: "for each row"},
			&cli.IntFlag{Name: "threads", Usage: "`N` of a CPU device", DefaultText: "the cores"},
			&cli.StringFlag{Name: "kernels", Value: "auto", Usage: "kernel class: auto, amx, fma or generic"},
			&cli.StringFlag{Name: "precision", Value: device.F32, Usage: "f32 or bf16"},
			levelFlag(),
		}, pluginFlags()...),
		Action: devicesBench,
	}
}

// deviceBenchEvent is a row of devices bench. What does not apply is 0.
type deviceBenchEvent struct {
	Device    string   `json:"device"`
	Name      string   `json:"name"`
	Threads   int      `json:"threads"` // of a CPU device
	Kernels   string   `json:"kernels"`
	Precision string   `json:"precision"`
	Lacks     []string `json:"lacks,omitempty"` // operations that the device does not have
	Runs      int      `json:"runs,omitempty"`
	Best      float64  `json:"best_us,omitempty"` // microseconds of what is measured, once
	Median    float64  `json:"median_us,omitempty"`
	Worst     float64  `json:"worst_us,omitempty"`
	Gflops    float64  `json:"gflops,omitempty"` // 1e9 floating-point operations per second
	GBs       float64  `json:"gb_per_s,omitempty"`
}

func devicesBench(c *cli.Context) error {
	name, err := oneArgument(c, "NAME", "of a device, as devices list has them")
	if err != nil {
		return err
	}
	if s := c.Float64("seconds"); s < 0 || s > 3600 {
		return misuse("--seconds %g: want 0 to 3600", s)
	}
	list := slices.DeleteFunc(devicetest.Benchmarks(), func(b devicetest.Benchmark) bool {
		return !strings.Contains(b.Name, c.String("case"))
	})
	limits := name == "cpu" && strings.Contains(limitName, c.String("case"))
	if len(list) == 0 && !limits {
		return misuse("--case %q: nothing that is measured has that in its name", c.String("case"))
	}
	options, err := fleetOptions(c, c.String("precision"), noLimit)
	if err != nil {
		return err
	}
	options.Devices = name
	one, err := fleet.FindOne(c.Context, options)
	if err != nil {
		return err
	}
	defer one.Close()
	o := outputOf(c)
	o.result("%-52s  %12s  %12s  %12s  %9s  %7s", "", "best us", "median us", "worst us", "GFLOP/s", "GB/s")
	if limits {
		if err := tellLimits(c, o, one.Threads()); err != nil {
			return err
		}
	}
	return benchAll(c, one, list, func(kernels string, f devicetest.Figure) {
		tellFigure(o, deviceBenchEvent{Device: name, Name: f.Name, Threads: one.Threads(),
			Kernels: kernels, Precision: one.Precision()}, f)
	})
}

// benchAll measures the list on the device. Several at a time share its threads.
func benchAll(c *cli.Context, one *fleet.Opener, list []devicetest.Benchmark,
	tell func(kernels string, f devicetest.Figure)) error {
	var kernels string
	each := time.Duration(c.Float64("seconds") * float64(time.Second))
	for _, b := range list {
		open := func(ctx context.Context, _ string) (device.Device, error) {
			d, err := one.Open(ctx, max(one.Threads()/b.Devices(), 1))
			if err == nil {
				kernels = d.Info().Kernels
			}
			return d, err
		}
		err := devicetest.Bench(c.Context, open, one.Precision(), []devicetest.Benchmark{b}, each,
			func(f devicetest.Figure) { tell(kernels, f) })
		if err != nil {
			return err
		}
	}
	return nil
}

// limitName is the row of devices bench that says what the machine can do.
const limitName = "limit: multiply-adds on registers; copy of memory"

// tellLimits measures what the machine can do at most.
func tellLimits(c *cli.Context, o *output, threads int) error {
	l, err := cpu.Measure(c.String("kernels"), threads)
	if err != nil {
		return misuseError{err}
	}
	o.event("device_bench", deviceBenchEvent{Device: "cpu", Name: limitName, Threads: threads,
		Kernels: l.Kernels, Precision: device.F32, Gflops: l.Flops / 1e9, GBs: l.Bytes / 1e9})
	o.result("%-52s  %12s  %12s  %12s  %9.1f  %7.1f", limitName, "", "", "", l.Flops/1e9, l.Bytes/1e9)
	return nil
}

func tellFigure(o *output, e deviceBenchEvent, f devicetest.Figure) {
	for _, op := range f.Lacks {
		e.Lacks = append(e.Lacks, op.String())
	}
	if len(e.Lacks) > 0 {
		o.event("device_bench", e)
		o.result("%-52s  not there: the device lacks %s", f.Name, strings.Join(e.Lacks, ", "))
		return
	}
	us := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	e.Runs, e.Best, e.Median, e.Worst = f.Runs, us(f.Best), us(f.Median), us(f.Worst)
	rates := ""
	if f.Computes() {
		e.Gflops, e.GBs = f.FlopRate()/1e9, f.ByteRate()/1e9
		rates = fmt.Sprintf("  %9.1f  %7.1f", e.Gflops, e.GBs)
	}
	o.event("device_bench", e)
	o.result("%-52s  %12.2f  %12.2f  %12.2f%s", f.Name, e.Best, e.Median, e.Worst, rates)
}
