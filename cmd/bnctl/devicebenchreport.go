package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/bench"
)

// measureDevice prints how fast a device is, row by row.
func measureDevice(ctx context.Context, o *output, options bench.DeviceOptions) error {
	head := sync.OnceFunc(func() {
		o.result("%-52s  %12s  %12s  %12s  %9s  %7s", "", "best us", "median us", "worst us", "GFLOP/s", "GB/s")
	})
	w := o.waiting()
	defer w.Stop()
	options.Begin = w.Begin
	return bench.Device(ctx, options, func(r bench.DeviceRow) {
		w.Clear()
		head()
		o.event("device_bench", r)
		tellDeviceRow(o, r)
	})
}

func tellDeviceRow(o *output, r bench.DeviceRow) {
	if r.Note != "" {
		o.result("  %s", r.Note)
		return
	}
	if len(r.Lacks) > 0 {
		o.result("%-52s  not there: the device lacks %s", r.Name, strings.Join(r.Lacks, ", "))
		return
	}
	times, rates := fmt.Sprintf("%12s  %12s  %12s", "", "", ""), ""
	if r.Runs > 0 {
		times = fmt.Sprintf("%12.2f  %12.2f  %12.2f", r.Best, r.Median, r.Worst)
	}
	if r.Computes {
		rates = fmt.Sprintf("  %9.1f  %7.1f", r.Gflops, r.GBs)
	}
	o.result("%-52s  %s%s", r.Name, times, rates)
}
