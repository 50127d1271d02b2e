package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// stripForeign strips the files of other programs.
func stripForeign(c *cli.Context) (*stripping, error) {
	given, err := stripOptions(c)
	if err != nil {
		return nil, err
	}
	options, err := given.Foreign()
	if err != nil {
		return nil, err
	}
	options.TensorsOnly = !template(c)
	f, err := formats.OpenRanks(c.Args().Slice(), options)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var m *models.Model
	if template(c) {
		if m, err = foreignTemplate(c, f, given); err != nil {
			return nil, err
		}
	}
	s := &stripping{lines: foreignLines(f)}
	o := outputOf(c)
	if m == nil {
		noteDoubtful(o, f)
	}
	if s.sick.Norms, err = formats.Norms(f); err != nil {
		return nil, err
	}
	s.event = foreignEvent(f, m, len(s.sick.Norms))
	for _, n := range f.Findings {
		if n.Fault {
			s.sick.Graph = append(s.sick.Graph, n.Where+": "+n.Text)
		}
	}
	for _, n := range f.Findings {
		o.note("%s", findingLine(n))
	}
	if m != nil {
		noteOfPictures(o, c.String("output"), m, "strip")
	}
	return s, s.write(c, m, f.Tensors)
}

// foreignTemplate returns the template that a file holds. A refusal ends with
// the command that needs no architecture.
func foreignTemplate(c *cli.Context, f *formats.File, o modelfile.Options) (*models.Model, error) {
	m, err := modelfile.Template(f, o)
	if err == nil || code(c.Context, err) == exitMisused {
		return m, err
	}
	inputs := strings.Join(c.Args().Slice(), " ")
	return nil, fmt.Errorf("%s: %w; this needs no architecture: bnctl strip %s -o %s", inputs, err, inputs,
		strings.TrimSuffix(c.String("output"), ".bnm")+".safetensors")
}

func findingLine(n formats.Finding) string {
	line := n.Text
	if n.Where != "" {
		line = n.Where + ": " + line
	}
	if n.Advice != "" {
		line += "; " + n.Advice
	}
	return line
}

// foreignEvent describes what is left of a file, as a model if m is not nil.
func foreignEvent(f *formats.File, m *models.Model, norms int) stripEvent {
	e := stripEvent{Format: f.Format, Parameters: trainedElements(f), Removed: foreignRemoved(f),
		BN: bnEvent{Layers: norms, Merged: "as in the file"}, foreignChoice: choiceOf(f)}
	if m != nil {
		e.Architecture, e.Parameters = m.Architecture, m.Summary().Parameters
	}
	return e
}

// trainedElements counts the elements of a file's tensors but those of
// running statistics and counters.
func trainedElements(f *formats.File) int {
	if f.Model != nil {
		return f.Model.Summary().Parameters
	}
	skip := map[string]bool{}
	for _, n := range formats.BatchNorms(f) {
		skip[n.Mean], skip[n.Variance], skip[n.Count] = true, true, true
	}
	n := 0
	for _, t := range f.Tensors {
		if !skip[t.Name] {
			n += tensor.Count(t.Shape)
		}
	}
	return n
}

func foreignRemoved(f *formats.File) removedEvent {
	r := removedEvent{Wrappers: append([]string{}, f.Wrappers...), Other: []string{}}
	for _, g := range f.Left {
		if g.Reason == "optimizer state" {
			r.OptimizerTensors += g.Tensors
			continue
		}
		r.Other = append(r.Other, groupLine(g))
	}
	return r
}

func groupLine(g formats.Group) string {
	return fmt.Sprintf("%s: %s, %s, %.1f MB", g.Name, g.Reason,
		counted(g.Tensors, "tensor"), float64(g.Bytes)/1e6)
}

// foreignLines says in words what a file has beside the model.
func foreignLines(f *formats.File) []string {
	var lines []string
	if f.Key != "" {
		lines = append(lines, fmt.Sprintf("all but the %d tensors of %s", len(f.Tensors), f.Key))
	}
	if len(f.Wrappers) > 0 {
		lines = append(lines, "wrappers: "+strings.Join(f.Wrappers, " "))
	}
	for _, g := range f.Left {
		lines = append(lines, groupLine(g))
	}
	for _, k := range f.Counters {
		lines = append(lines, k.Name+" = "+k.Value)
	}
	return lines
}

// tensorLayers lists the tensors of a file as a table shows them, for files
// whose graph is not known.
func tensorLayers(tensors []formats.Tensor) []layer {
	out := make([]layer, len(tensors))
	for i, t := range tensors {
		out[i] = layer{Name: t.Name, Op: "tensor", Output: tensor.Describe(t.DType, t.Shape),
			Parameters: tensor.Count(t.Shape)}
	}
	return out
}
