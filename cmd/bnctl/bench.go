package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
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

// benchEvent is a row of bench.
type benchEvent struct {
	Model      string  `json:"model"`
	Device     string  `json:"device"`
	Mode       string  `json:"mode"`
	Batch      int     `json:"batch"`
	Threads    int     `json:"threads"` // of each CPU device
	Precision  string  `json:"precision"`
	Kernels    string  `json:"kernels"`
	Throughput float64 `json:"images_per_s"`
	P50        float64 `json:"p50_ms"` // of a batch
	P99        float64 `json:"p99_ms"`
	PeakRSS    float64 `json:"peak_rss_mb"` // of bnctl and its plugins; 0 where the system does not tell

	scaled
	profile *profile // nil without --profile
}

func benchAction(c *cli.Context) error {
	name, err := oneArgument(c, "MODEL", "a name of the zoo, or a file")
	if err != nil {
		return err
	}
	run, ok := map[string]func(context.Context, *cli.Context, *models.Model) (benchEvent, error){
		"infer": benchInfer, "train": benchTrain}[c.String("mode")]
	if !ok {
		return misuse("--mode %q: want infer or train", c.String("mode"))
	}
	if s := c.Float64("seconds"); s <= 0 || s > 3600 {
		return misuse("--seconds %g: want more than 0, up to 3600", s)
	}
	m, err := benchModel(c, name)
	if err != nil {
		return err
	}
	sets, err := rowsOfScaling(c)
	if err != nil {
		return err
	}
	o := outputOf(c)
	header, columns := "", func(*benchEvent) string { return "" }
	if c.IsSet("scaling") {
		header, columns = scalingHeader, (*benchEvent).columns
	}
	o.result("%-12s  %-5s  %5s  %-16s  %7s  %-7s  %-9s  %9s  %9s  %9s  %8s%s",
		"model", "mode", "batch", "devices", "threads", "kernels", "precision", "img/s", "p50 ms", "p99 ms",
		"peak MB", header)
	var first benchEvent
	for i, set := range sets {
		if err := c.Set("devices", set); err != nil {
			return err
		}
		e, err := run(c.Context, c, m)
		if err != nil {
			return err
		}
		e.Model = name
		if i == 0 {
			first = e
		}
		e.compare(&first)
		o.event("bench", e)
		o.result("%-12s  %-5s  %5d  %-16s  %7d  %-7s  %-9s  %9.1f  %9.2f  %9.2f  %8.0f%s", e.Model, e.Mode, e.Batch,
			e.Device, e.Threads, e.Kernels, e.Precision, e.Throughput, e.P50, e.P99, e.PeakRSS, columns(&e))
		if e.profile != nil {
			e.profile.tell(o)
		}
	}
	return nil
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

// measure runs step for the time of --seconds, and says how long one took.
func measure(c *cli.Context, e *benchEvent, set *deviceSet, step func() error) error {
	if set.profiler != nil && len(set.Members) > 1 {
		return misuse("--profile looks at one device; --devices %s are %d", c.String("devices"), len(set.Members))
	}
	const warmUp = 2
	for range warmUp {
		if err := step(); err != nil {
			return err
		}
	}
	if set.profiler != nil {
		set.profiler.forget()
	}
	limit := time.Duration(c.Float64("seconds") * float64(time.Second))
	var took []time.Duration
	began := time.Now()
	for len(took) == 0 || time.Since(began) < limit {
		before := time.Now()
		if err := step(); err != nil {
			return err
		}
		took = append(took, time.Since(before))
	}
	all := time.Since(began)
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	e.Throughput = float64(e.Batch*len(took)) / all.Seconds()
	e.P50, e.P99 = ms(took[len(took)/2]), ms(took[len(took)*99/100])
	e.Device, e.Threads, e.Kernels = c.String("devices"), set.Threads(), set.kernels()
	e.Precision = set.Precision()
	e.PeakRSS, e.devices = peakMemory(set), len(set.Members)
	if set.profiler == nil {
		return nil
	}
	var err error
	e.profile, err = newProfile(set, c.String("kernels"))
	return err
}
