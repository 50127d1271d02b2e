package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/doctor"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// inspectForeign shows the file of another program. Its architecture is that
// of --arch, of the file's own graph, or of the zoo; there need not be one.
func inspectForeign(c *cli.Context, path string) error {
	options, err := modelOptions(c)
	if err != nil {
		return err
	}
	f, err := modelfile.OpenForeign(path, options)
	if err != nil {
		return err
	}
	defer f.Close()
	if c.Bool("verify") {
		if err := readAll(f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	m, err := modelfile.Template(f, options)
	if err != nil && (c.IsSet("arch") || c.Bool("text") || c.IsSet("graph")) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if c.Bool("text") || c.IsSet("graph") {
		return (&inspected{graph: m.Graph, model: m}).show(c)
	}
	return reportForeign(outputOf(c), f, m, c.Bool("verify"))
}

// readAll reads every tensor, one at a time.
func readAll(f *formats.File) error {
	for _, t := range f.Tensors {
		if _, err := t.Load(); err != nil {
			return err
		}
	}
	return nil
}

// reportForeign says what a file holds; m is nil if its architecture is not known.
func reportForeign(o *output, f *formats.File, m *models.Model, verified bool) error {
	norms, err := formats.Norms(f)
	if err != nil {
		return err
	}
	removed := foreignRemoved(f)
	e := inspectEvent{Format: f.Format, Kind: "foreign", Parameters: trainedElements(f),
		Layers: tensorLayers(f.Tensors), Verified: verified, BN: normEvents(norms), TrainingOnly: &removed,
		Counters: f.Counters, Findings: f.Findings, foreignChoice: choiceOf(f)}
	e.Health, e.Warnings = doctor.Health(norms)
	title := fmt.Sprintf("%d tensors, %d parameters; no architecture of the zoo fits",
		len(f.Tensors), e.Parameters)
	if f.NoModel != nil {
		e.NoGraph = f.NoModel.Error()
		title = fmt.Sprintf("%d tensors, %d parameters; the graph in the file is not supported: %s",
			len(f.Tensors), e.Parameters, e.NoGraph)
	}
	if m != nil {
		in := m.Input()
		e.Architecture, e.Parameters, e.Flops = m.Architecture, m.Summary().Parameters, flops(m)
		e.Input, e.Layers, e.BN = tensor.Describe(in.DType, in.Shape), layersOf(m),
			normEvents(formats.ModelNorms(m))
		title = summary(m)
	}
	o.event("inspect", e)
	o.result("foreign (%s%s): %s", f.Format, verifiedWord(verified), title)
	o.result("")
	printLayers(o, e.Layers)
	if len(e.BN) > 0 {
		o.result("")
		printNorms(o, e.BN)
		o.result("%s, %s", counted(len(norms), "batch norm"), healthText(e.Health, e.Warnings))
	}
	printForeignRest(o, f)
	return nil
}

func verifiedWord(verified bool) string {
	if verified {
		return ", verified"
	}
	return ""
}

func printForeignRest(o *output, f *formats.File) {
	if lines := foreignLines(f); len(lines) > 0 {
		o.result("")
		o.result("beside the model:")
		for _, line := range lines {
			o.result("   %s", line)
		}
	}
	for _, n := range f.Findings {
		o.note("%s", findingLine(n))
	}
}
