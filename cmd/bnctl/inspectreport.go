package main

import (
	"context"
	"encoding/json"
	"io"

	"github.com/bnctl/bnctl/graph/dot"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/modelfile/inspect"
)

// drawGraph writes a drawing of the graph of a file to path.
func drawGraph(ctx context.Context, o *output, path string, r *inspect.Report) error {
	write := func(w io.Writer) error { return dot.Draw(ctx, w, path, r.Graph.Main) }
	if err := regular.WriteFile(path, 0o666, write); err != nil {
		return err
	}
	o.note("wrote %s", path)
	return nil
}

// reportInspect prints what a file contains.
func reportInspect(o *output, path string, r *inspect.Report) {
	for i := range r.Findings {
		r.Findings[i].Advice = inFlags(r.Findings[i].Advice)
	}
	o.event("inspect", r)
	foreign := r.Kind == "foreign"
	what := r.Format
	if r.Verified {
		what += ", verified"
	}
	o.result("%s (%s): %s", r.Kind, what, inspectTitle(r))
	o.result("")
	printLayers(o, r.Layers)
	if len(r.BN) > 0 {
		o.result("")
		o.results(r.NormLines())
		if foreign {
			o.result("%s, %s", plural(r.Norms, "batch norm"), healthText(r.Health, r.Warnings))
		}
	}
	for _, section := range r.Sections() {
		o.result("")
		o.results(section)
	}
	printHistory(o, path, r)
	for _, n := range r.Findings {
		o.note("%s", findingLine(n))
	}
}

// inspectTitle returns a line about the model or, if the model is unknown, about the reason.
func inspectTitle(r *inspect.Report) string {
	if r.Model != nil {
		return summary(r.Model)
	}
	title := plural(r.Tensors, "tensor") + ", " + plural(r.Parameters, "parameter")
	if r.NoGraph != "" {
		return title + "; the graph in the file is not supported: " + r.NoGraph
	}
	return title + "; no architecture of the zoo fits"
}

// printHistory prints how the model of a file was trained.
func printHistory(o *output, path string, r *inspect.Report) {
	for _, line := range []string{r.LagLine(), r.TemperatureLine(), r.ThresholdsLine(), r.Int8Line(),
		r.SumLine()} {
		if line != "" {
			o.result("\n%s", line)
		}
	}
	if r.Best != nil {
		o.result("")
		o.result("%s", inFlags(r.BestLine(quoted(path))))
	}
	for _, entry := range []struct {
		name string
		text json.RawMessage
	}{{"recipe", r.Recipe}, {"progress", r.Progress}} {
		if len(entry.text) > 0 {
			o.result("")
			o.result("%s:\n%v", entry.name, lines(inspect.Indented(entry.text)))
		}
	}
}
