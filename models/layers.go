package models

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Layer describes a node of a model's graph, as a row of a table.
type Layer struct {
	Name       string  `json:"name"`
	Op         string  `json:"op"`
	Output     string  `json:"output"`     // type of the first result, per sample
	Parameters int     `json:"parameters"` // trained elements that no earlier layer uses
	Flops      float64 `json:"flops"`      // floating-point operations per sample
}

// Layers lists the nodes of m in the order in which they run. It needs only the graph.
func (m *Model) Layers() []Layer {
	f := m.Graph.Main
	roles := map[string]graph.Role{}
	for _, s := range m.Graph.State {
		roles[s.Name] = s.Role
	}
	var out []Layer
	for i := range f.Nodes {
		n := &f.Nodes[i]
		flops, _ := f.Cost(n).At(1)
		l := Layer{Name: f.NodeName(n), Op: n.Op.String(), Flops: flops}
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
