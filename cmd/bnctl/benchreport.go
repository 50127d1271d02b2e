package main

import (
	"context"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/bench"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/predict"
)

// measure measures the speed of a model of the zoo or of a file, and prints it.
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
	scaled, first := len(options.Scaling) > 0, true
	return bench.Run(ctx, m.Model, options, func(r *bench.Row) error {
		r.Model = name
		if r.Mode == bench.Infer {
			warnOfTerms(o, was, predict.Terms{Kernels: r.Kernels, Precision: r.Precision})
		}
		if first { // if the first row is an error, it is printed without a heading
			o.result("%s", bench.Heading(scaled))
			first = false
		}
		o.event("bench", r)
		o.result("%s", r.Line(scaled))
		if r.Profile != nil {
			tellProfile(o, r.Profile)
		}
		return nil
	})
}

// tellProfile prints the times of nodes.
func tellProfile(o *output, p *bench.Profile) {
	for _, n := range p.Nodes {
		o.event("profile", n)
	}
	for _, line := range p.Plan {
		o.event("plan", map[string]string{"line": line})
	}
	for _, line := range p.Lines() {
		o.result("%s", line)
	}
}
