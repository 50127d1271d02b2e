package bench

import (
	"fmt"
	"strings"
)

// Heading returns the line above the rows. If scaled is set, it has the columns about several devices.
func Heading(scaled bool) string {
	header := ""
	if scaled {
		header = "  efficiency  in sync     mean"
	}
	return fmt.Sprintf("%-12s  %-5s  %5s  %-16s  %7s  %-7s  %-9s  %9s  %9s  %9s  %8s%s",
		"model", "mode", "batch", "devices", "threads", "kernels", "precision", "img/s", "p50 ms", "p99 ms",
		"peak MB", header)
}

// Line returns a row as text, in the columns of Heading.
func (r *Row) Line(scaled bool) string {
	scaling := ""
	if scaled {
		scaling = fmt.Sprintf("  %8.1f %%  %5.2f %%  %5.2f %%", 100*r.Efficiency, 100*r.Sync, 100*r.SyncMean)
	}
	return fmt.Sprintf("%-12s  %-5s  %5d  %-16s  %7d  %-7s  %-9s  %9.1f  %9.2f  %9.2f  %8.0f%s", r.Model, r.Mode,
		r.Batch, r.Device, r.Threads, r.Kernels, r.Precision, r.Throughput, r.P50, r.P99, r.PeakRSS, scaling)
}

// Lines returns the times of nodes as text: a table, and lines about how the device divides its work.
func (p *Profile) Lines() []string {
	lines := []string{"", fmt.Sprintf("%-32s  %-22s  %9s  %6s  %9s  %9s  %7s  %s", "node", "operation", "ms",
		"%", "ops ms", "bytes ms", "x floor", "algorithm")}
	totals := map[string]float64{}
	for _, n := range p.Nodes {
		if n.Name == "" {
			totals[n.Function] = n.Ms
		}
	}
	for _, n := range p.Nodes {
		lines = append(lines, n.line(totals[n.Function]))
	}
	lines = append(lines, fmt.Sprintf("floors: %.4g GFLOP/s, %.4g GB/s, %s; - is done as part of another node; "+
		"times are medians", p.Limits.Flops/1e9, p.Limits.Bytes/1e9, p.Limits.Source))
	return append(lines, p.Plan...)
}

// line returns a node as text. total is the time of its whole function in milliseconds.
func (n *Node) line(total float64) string {
	name, took, percent, times := n.Name, "-", "", ""
	if name == "" {
		name = "all of " + n.Function
	}
	if n.Ms > 0 {
		took, percent = fmt.Sprintf("%.3f", n.Ms), fmt.Sprintf("%.1f", 100*n.Ms/total)
		if floor := max(n.FlopsMs, n.BytesMs); floor > 0 && n.Name != "" {
			times = fmt.Sprintf("%.1f", n.Ms/floor)
		}
	}
	return strings.TrimRight(fmt.Sprintf("%-32s  %-22s  %9s  %6s  %9.3f  %9.3f  %7s  %s", name, n.Op, took,
		percent, n.FlopsMs, n.BytesMs, times, n.Algorithm), " ")
}
