package main

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// layer is a node of a model's graph as a table shows it.
type layer struct {
	Name       string  `json:"name"`
	Op         string  `json:"op"`
	Output     string  `json:"output"`     // type of the first result, per sample
	Parameters int     `json:"parameters"` // trained elements that no earlier layer uses
	Flops      float64 `json:"flops"`      // per sample
}

// layersOf lists the nodes of a model in the order in which they run.
func layersOf(m *models.Model) []layer {
	f := m.Graph.Main
	roles := map[string]graph.Role{}
	for _, s := range m.Graph.State {
		roles[s.Name] = s.Role
	}
	var out []layer
	for i := range f.Nodes {
		n := &f.Nodes[i]
		cost, _ := f.Cost(n).At(1)
		l := layer{Name: f.NodeName(n), Op: n.Op.String(), Flops: cost}
		if len(n.Out) > 0 {
			t := f.Values[n.Out[0]].Type
			l.Output = tensor.Describe(t.DType, t.Shape)
		}
		for _, v := range n.In {
			if v == graph.None || f.Values[v].State == "" {
				continue
			}
			if name := f.Values[v].State; roles[name].Trained() {
				l.Parameters += tensor.Count(f.Values[v].Type.Shape)
				delete(roles, name) // counted once
			}
		}
		out = append(out, l)
	}
	return out
}

// flops returns the work of one prediction.
func flops(m *models.Model) float64 {
	f, _ := m.Graph.Main.TotalCost().At(1)
	return f
}

func printLayers(o *output, layers []layer) {
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
	s, in := m.Summary(), m.Input()
	parts := []string{m.Architecture, "input " + tensor.Describe(in.DType, in.Shape),
		counted(s.Parameters, "parameter"), fmt.Sprintf("%.1f MFLOP", flops(m)/1e6),
		counted(s.Norms, "batch norm")}
	if len(m.Labels) > 0 {
		parts = append(parts, "classes "+predict.ClassList(m.Labels))
	}
	return strings.Join(parts, " · ")
}
