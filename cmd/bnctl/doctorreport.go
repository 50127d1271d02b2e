package main

import (
	"slices"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/doctor"
)

// doctorEvent is the line of doctor --json.
type doctorEvent struct {
	File     string       `json:"file"`
	Healthy  bool         `json:"healthy"`
	Layers   int          `json:"layers"`
	Findings []bn.Finding `json:"findings"`
	modelfile.ChoiceReport
}

// reportFindings prints the findings. If one of them is a fault, it returns an error with exit code 3.
func reportFindings(o *output, p *doctor.Report) error {
	findings := p.Findings()
	faults := 0
	for _, f := range findings {
		if f.Severity == bn.Fault {
			faults++
		}
	}
	o.event("doctor", doctorEvent{p.Path, faults == 0, len(p.Norms), findings, p.Choice.Report()})
	for _, f := range findings {
		o.result("%-7s  %s%s: %s\n         %s", f.Severity, f.Layer, doctor.ChannelList(f.Channels), f.Problem,
			inFlags(f.Advice))
	}
	o.result("%s: %s, %s, %s", p.Path, plural(len(p.Norms), "batch norm"), plural(faults, "fault"),
		plural(len(findings)-faults, "warning"))
	if len(p.Norms) == 0 && faults == 0 {
		o.note("%s has no batch norm, or they are folded into the layers before them", p.Path)
	}
	switch {
	case faults == 0:
		if slices.ContainsFunc(findings, func(f bn.Finding) bool { return f.Reestimate }) {
			o.note("bnctl doctor %s --repair --data SRC -o mended.bnm re-estimates statistics", p.Path)
		}
		return nil
	case len(p.NonFinite) > 0:
		return sick("statistics cannot mend weights: use an earlier checkpoint",
			"%s is sick: %s", p.Path, plural(faults, "fault"))
	case len(p.GraphFaults) > 0:
		return sick("statistics cannot mend its graph: "+p.GraphFaults[0], "%s is sick: %s", p.Path,
			plural(faults, "fault"))
	}
	return sick("re-estimate them with bnctl doctor "+p.Path+
		" --repair --data SRC -o mended.bnm", "%s is sick: %s in its batch norms", p.Path, plural(faults, "fault"))
}
