package bench

import (
	"fmt"
	"strings"
)

// DeviceHead is the line above the rows of a device.
func DeviceHead() string {
	return fmt.Sprintf("%-52s  %12s  %12s  %12s  %9s  %7s", "", "best us", "median us", "worst us", "GFLOP/s",
		"GB/s")
}

// Line returns the row as text.
func (r DeviceRow) Line() string {
	if r.Note != "" {
		return "  " + r.Note
	}
	if len(r.Lacks) > 0 {
		return fmt.Sprintf("%-52s  not there: the device lacks %s", r.Name, strings.Join(r.Lacks, ", "))
	}
	times, rates := fmt.Sprintf("%12s  %12s  %12s", "", "", ""), ""
	if r.Runs > 0 {
		times = fmt.Sprintf("%12.2f  %12.2f  %12.2f", r.Best, r.Median, r.Worst)
	}
	if r.Computes {
		rates = fmt.Sprintf("  %9.1f  %7.1f", r.Gflops, r.GBs)
	}
	return fmt.Sprintf("%-52s  %s%s", r.Name, times, rates)
}
