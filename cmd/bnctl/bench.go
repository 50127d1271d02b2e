package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/bench"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
)

func benchCommand() *cli.Command {
	return &cli.Command{
		Name:      "bench",
		Usage:     "how fast a model predicts or trains here, on input made up in memory",
		ArgsUsage: "MODEL",
		Description: `Runs batch after batch of the same synthetic input: no data is read. MODEL is a
name of the zoo or a file.

   bnctl bench resnet20 --batch 32
   bnctl bench resnet20 --mode train --batch 128 --devices 2xcpu
   bnctl bench mobilenetv2 --batch 8 --profile
   bnctl bench resnet50 --batch 8 --precision bf16
   bnctl bench resnet18 --mode train --batch 16 --replicas 2 --scaling 1,2 --threads 1`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "mode", Value: "infer",
				Usage: "infer, or train: whole steps with sync batch norm and SGD"},
			&cli.IntFlag{Name: "replicas", Usage: "of a training batch", DefaultText: "as many as devices"},
			&cli.StringFlag{Name: "scaling",
				Usage: "`1,2,4`: one row for each number of devices, instead of --devices"},
			&cli.Float64Flag{Name: "seconds", Value: 5, Usage: "for each row"},
			&cli.BoolFlag{Name: "profile", Usage: "time of each node of the program beside its floors; on one device"},
			batchFlag("rows of a batch, over all devices"),
			precisionFlag(),
		}, fileFlags(), preprocessFlags(), runningFlags()),
		Action: benchAction,
	}
}

func benchAction(c *cli.Context) error {
	name, err := oneArgument(c, "MODEL", "a name of the zoo, or a file")
	if err != nil {
		return err
	}
	options, err := benchOptions(c)
	if err != nil {
		return err
	}
	m, err := benchModel(c, name)
	if err != nil {
		return err
	}
	options.Fleet.Precision = precisionFor(c, m)
	if options.Mode == bench.Infer {
		if err := predict.CheckBatch(m, options.Batch); err != nil {
			return err
		}
	}
	o, header := outputOf(c), ""
	if len(options.Scaling) > 0 {
		header = "  efficiency  in sync     mean"
		if !c.IsSet("threads") {
			o.note("the devices of a row share the cores; with --threads 1 all of them have one thread")
		}
	}
	o.result("%-12s  %-5s  %5s  %-16s  %7s  %-7s  %-9s  %9s  %9s  %9s  %8s%s",
		"model", "mode", "batch", "devices", "threads", "kernels", "precision", "img/s", "p50 ms", "p99 ms",
		"peak MB", header)
	return bench.Run(c.Context, m, options, func(r *bench.Row) error {
		r.Model = name
		if r.Mode == bench.Infer {
			warnOfTraining(o, m, predict.Terms{Kernels: r.Kernels, Precision: r.Precision})
		}
		o.event("bench", r)
		scaling := ""
		if len(options.Scaling) > 0 {
			scaling = fmt.Sprintf("  %8.1f %%  %5.2f %%  %5.2f %%", 100*r.Efficiency, 100*r.Sync, 100*r.SyncMean)
		}
		o.result("%-12s  %-5s  %5d  %-16s  %7d  %-7s  %-9s  %9.1f  %9.2f  %9.2f  %8.0f%s", r.Model, r.Mode, r.Batch,
			r.Device, r.Threads, r.Kernels, r.Precision, r.Throughput, r.P50, r.P99, r.PeakRSS, scaling)
		if r.Profile != nil {
			tellProfile(o, r.Profile)
		}
		return nil
	})
}

// benchOptions returns what the flags say, but for the precision, which may be the model's.
func benchOptions(c *cli.Context) (bench.Options, error) {
	b := bench.Options{Mode: c.String("mode"), Batch: c.Int("batch"), Seconds: c.Float64("seconds"),
		Replicas: c.Int("replicas"), Profile: c.Bool("profile")}
	var err error
	if b.Fleet, err = fleetOptions(c, "", noLimit); err != nil {
		return b, err
	}
	if c.IsSet("scaling") {
		if !c.IsSet("devices") {
			b.Fleet.Devices = ""
		}
		for n := range strings.SplitSeq(c.String("scaling"), ",") {
			k, err := strconv.Atoi(n)
			if err != nil || k < 1 {
				return b, misuse("--scaling %q: %q is no number of devices", c.String("scaling"), n)
			}
			b.Scaling = append(b.Scaling, k)
		}
	}
	return b, b.Check()
}

// benchModel returns a model of the zoo with new weights, or that of a file.
func benchModel(c *cli.Context, name string) (*models.Model, error) {
	if _, err := models.Lookup(name); err != nil {
		m, fileErr := openModel(c, name)
		if fileErr != nil {
			_, err = modelfile.Zoo(name)
			return nil, fmt.Errorf("%w; as a file: %w", err, fileErr)
		}
		return m, nil
	}
	err := without(c, name+" is a name of the zoo", "arch", "key", "drop", "preprocess", "mean", "std")
	if err != nil {
		return nil, err
	}
	m, err := models.Build(name, models.Options{})
	if err != nil {
		return nil, err
	}
	return m, models.Init(m, 0)
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
		name, took, share, times := n.Name, "-", "", ""
		if name == "" {
			name = "all of " + n.Function
		}
		if n.Ms > 0 {
			took, share = fmt.Sprintf("%.3f", n.Ms), fmt.Sprintf("%.1f", 100*n.Ms/all[n.Function])
			if floor := max(n.FlopsMs, n.BytesMs); floor > 0 && n.Name != "" {
				times = fmt.Sprintf("%.1f", n.Ms/floor)
			}
		}
		o.result("%s", strings.TrimRight(fmt.Sprintf("%-32s  %-22s  %9s  %6s  %9.3f  %9.3f  %7s  %s",
			name, n.Op, took, share, n.FlopsMs, n.BytesMs, times, n.Algorithm), " "))
	}
	o.result("floors: %.4g GFLOP/s, %.4g GB/s, %s; - is done as part of another node; times are medians",
		p.Limits.Flops/1e9, p.Limits.Bytes/1e9, p.Limits.Of)
}
