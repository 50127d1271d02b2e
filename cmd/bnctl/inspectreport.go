package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// inspectEvent is the line of inspect --json.
type inspectEvent struct {
	Format       string            `json:"format"`
	Kind         string            `json:"kind"`
	Architecture string            `json:"architecture"`
	Parameters   int               `json:"parameters"`
	Flops        float64           `json:"flops"` // of one prediction
	Input        string            `json:"input"`
	Layers       []layer           `json:"layers"`
	Verified     bool              `json:"verified"`
	Recipe       json.RawMessage   `json:"recipe,omitempty"`
	BN           []normEvent       `json:"bn"`
	Health       string            `json:"health,omitempty"`   // of the batch norms of a foreign file
	Warnings     int               `json:"warnings,omitempty"` // what doctor warns of in them
	TrainingOnly *removedEvent     `json:"training_only,omitempty"`
	Counters     []formats.Counter `json:"counters,omitempty"` // of a foreign file: step, epoch
	Findings     []formats.Finding `json:"findings,omitempty"` // remarks about a foreign file
	// why a foreign file's graph is not read
	NoGraph string `json:"no_graph,omitempty"`
	foreignChoice
	Progress json.RawMessage `json:"progress,omitempty"`
	// of the template behind replicas with weights of their own
	Lag *train.Lag `json:"lag,omitempty"`
}

func (s *inspected) report(o *output) error {
	in := s.model.Input()
	e := inspectEvent{Format: s.format, Kind: s.kind, Architecture: s.model.Architecture,
		Parameters: s.model.Summary().Parameters, Flops: flops(s.model), Input: tensor.Describe(in.DType, in.Shape),
		Layers: layersOf(s.model), Verified: true, Recipe: s.model.Recipe, BN: []normEvent{}, Progress: s.progress,
		Lag: s.lag}
	if len(s.model.State) > 0 {
		e.BN = normEvents(formats.ModelNorms(s.model))
	}
	if s.removed != nil {
		r := newRemovedEvent(s.removed)
		e.TrainingOnly = &r
	}
	o.event("inspect", e)
	s.print(o, e)
	return nil
}

func (s *inspected) print(o *output, e inspectEvent) {
	o.result("%s (%s, verified): %s", e.Kind, e.Format, summary(s.model))
	o.result("")
	printLayers(o, e.Layers)
	if len(e.BN) > 0 {
		o.result("")
		printNorms(o, e.BN)
	}
	if s.removed != nil {
		o.result("")
		o.result("only training needs:")
		for _, line := range removedLines(s.removed) {
			o.result("   %s", line)
		}
	}
	if l := e.Lag; l != nil {
		o.result("")
		o.result("the template is the average of %d replicas that have trained for %d steps since they were "+
			"averaged; their weights differ from it by at most %.3g (%s)", l.Replicas, l.Steps, l.Largest, l.Tensor)
	}
	for _, part := range []struct {
		name string
		text json.RawMessage
	}{{"recipe", e.Recipe}, {"progress", e.Progress}} {
		if len(part.text) > 0 {
			o.result("")
			o.result("%s:\n%v", part.name, lines(indented(part.text)))
		}
	}
}

// indented writes JSON for people, without the outermost braces and quotes of names.
func indented(text json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "   ") != nil {
		return string(text)
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), "{\n"), "\n}")
}

func printNorms(o *output, norms []normEvent) {
	width := len("batch norm")
	for _, n := range norms {
		width = max(width, len(n.Name))
	}
	o.result("%-*s  %8s  %7s  %7s  %11s  %23s", width,
		"batch norm", "channels", "eps", "decay", "|mean| max", "variance")
	for _, n := range norms {
		bad := ""
		if n.NonFinite > 0 {
			bad = fmt.Sprintf("  %d values are not finite", n.NonFinite)
		}
		o.result("%-*s  %8d  %7s  %7s  %11.4g  %10.4g to %9.4g%s", width, n.Name, n.Channels, number("%.0e", n.Eps),
			number("%.4g", n.Decay), n.MeanAbsMax, n.VarianceMin, n.VarianceMax, bad)
	}
}

// number writes a number of a batch norm that the file may not say.
func number(format string, v *float64) string {
	if v == nil {
		return "unknown"
	}
	return fmt.Sprintf(format, *v)
}
