package main

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/models"
)

func printLayers(o *output, layers []models.Layer) {
	name, op, out := 5, 2, 6
	for _, l := range layers {
		name, op, out = max(name, len(l.Name)), max(op, len(l.Op)), max(out, len(l.Output))
	}
	o.result("%-*s  %-*s  %-*s  %10s  %9s", name, "layer", op, "op", out, "output", "parameters", "MFLOP")
	for _, l := range layers {
		o.result("%-*s  %-*s  %-*s  %10d  %9.2f", name, l.Name, op, l.Op, out, l.Output, l.Parameters, l.Flops/1e6)
	}
}

// summary says in a line what a model is.
func summary(m *models.Model) string {
	s := m.Summary()
	fields := []string{m.Architecture, "input " + s.Input,
		plural(s.Parameters, "parameter"), fmt.Sprintf("%.1f MFLOP", s.Flops/1e6),
		plural(s.Norms, "batch norm")}
	if len(m.Labels) > 0 {
		fields = append(fields, "classes "+models.ClassList(m.Labels))
	}
	return strings.Join(fields, " · ")
}
