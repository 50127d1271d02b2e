package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/bench"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/predict"
)

// measure prints how fast a model of the zoo, or of a file, is.
func measure(ctx context.Context, o *output, name string, file modelfile.Options,
	options bench.Options) error {
	m, err := modelfile.OpenOrBuild(name, file)
	if err != nil {
		return err
	}
	noteChoice(o, m.Choice)
	was := predict.TrainedOn(m.Model)
	if options.Fleet.Precision == "" {
		options.Fleet.Precision = was.Precision
	}
	if options.Mode == bench.Infer {
		if err := predict.CheckBatch(m.Model, options.Batch); err != nil {
			return err
		}
	}
	scaled := len(options.Scaling) > 0
	headBench(o, scaled)
	return bench.Run(ctx, m.Model, options, func(r *bench.Row) error {
		r.Model = name
		if r.Mode == bench.Infer {
			warnOfTerms(o, was, predict.Terms{Kernels: r.Kernels, Precision: r.Precision})
		}
		rowBench(o, r, scaled)
		if r.Profile != nil {
			tellProfile(o, r.Profile)
		}
		return nil
	})
}

func headBench(o *output, scaled bool) {
	header := ""
	if scaled {
		header = "  efficiency  in sync     mean"
	}
	o.result("%-12s  %-5s  %5s  %-16s  %7s  %-7s  %-9s  %9s  %9s  %9s  %8s%s",
		"model", "mode", "batch", "devices", "threads", "kernels", "precision", "img/s", "p50 ms", "p99 ms",
		"peak MB", header)
}

func rowBench(o *output, r *bench.Row, scaled bool) {
	o.event("bench", r)
	scaling := ""
	if scaled {
		scaling = fmt.Sprintf("  %8.1f %%  %5.2f %%  %5.2f %%", 100*r.Efficiency, 100*r.Sync, 100*r.SyncMean)
	}
	o.result("%-12s  %-5s  %5d  %-16s  %7d  %-7s  %-9s  %9.1f  %9.2f  %9.2f  %8.0f%s", r.Model, r.Mode, r.Batch,
		r.Device, r.Threads, r.Kernels, r.Precision, r.Throughput, r.P50, r.P99, r.PeakRSS, scaling)
}

// tellProfile prints the times of nodes.
func tellProfile(o *output, p *bench.Profile) {
	o.result("\n%-32s  %-22s  %9s  %6s  %9s  %9s  %7s  %s", "node", "operation", "ms", "%", "ops ms", "bytes ms",
		"x floor", "algorithm")
	all := map[string]float64{}
	for _, n := range p.Nodes {
		if n.Name == "" {
			all[n.Function] = n.Ms
		}
	}
	for _, n := range p.Nodes {
		o.event("profile", n)
		name, took, percent, times := n.Name, "-", "", ""
		if name == "" {
			name = "all of " + n.Function
		}
		if n.Ms > 0 {
			took, percent = fmt.Sprintf("%.3f", n.Ms), fmt.Sprintf("%.1f", 100*n.Ms/all[n.Function])
			if floor := max(n.FlopsMs, n.BytesMs); floor > 0 && n.Name != "" {
				times = fmt.Sprintf("%.1f", n.Ms/floor)
			}
		}
		o.result("%s", strings.TrimRight(fmt.Sprintf("%-32s  %-22s  %9s  %6s  %9.3f  %9.3f  %7s  %s",
			name, n.Op, took, percent, n.FlopsMs, n.BytesMs, times, n.Algorithm), " "))
	}
	o.result("floors: %.4g GFLOP/s, %.4g GB/s, %s; - is done as part of another node; times are medians",
		p.Limits.Flops/1e9, p.Limits.Bytes/1e9, p.Limits.Source)
	for _, line := range p.Plan {
		o.event("plan", map[string]string{"line": line})
		o.result("%s", line)
	}
}
