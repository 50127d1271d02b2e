package models

import "github.com/bnctl/bnctl/graph"

// Description has the figures of an architecture of the zoo, in the form of its JSON.
type Description struct {
	Name       string  `json:"name"`
	About      string  `json:"about"`
	Input      string  `json:"input"`
	Classes    int     `json:"classes"`
	Parameters int     `json:"parameters"`
	Flops      float64 `json:"flops"`
	BatchNorms int     `json:"batch_norms"`
	LR         float64 `json:"lr"` // the default learning rate
	Family     string  `json:"family"`
	// NormDecay and NormEps are the attributes of the first batch norm; 0 without one.
	NormDecay float64 `json:"norm_decay,omitempty"`
	NormEps   float64 `json:"norm_eps,omitempty"`
	Paper     *Paper  `json:"paper,omitempty"`
	Layers    []Layer `json:"layers,omitempty"`
}

// Describe returns the model of the architecture a with the default options and without
// weights, and its description without layers. Height and width of size replace the
// defaults, unless size is zero.
func (a Architecture) Describe(size Size) (*Model, Description, error) {
	if size != (Size{}) {
		a.Input.Height, a.Input.Width = size.Height, size.Width
	}
	m, err := Build(a.Name, Options{Input: a.Input})
	if err != nil {
		return nil, Description{}, err
	}
	s := m.Summary()
	d := Description{Name: a.Name, About: a.About, Input: a.Input.String(), Classes: a.Classes,
		Parameters: s.Parameters, Flops: s.Flops, BatchNorms: s.Norms, LR: a.LR, Family: a.Family}
	for i := range m.Graph.Main.Nodes {
		if n := &m.Graph.Main.Nodes[i]; n.Op == graph.BatchNorm {
			d.NormDecay, d.NormEps = n.Float("decay"), n.Float("eps")
			break
		}
	}
	if p, ok := a.Paper(); ok {
		d.Paper = &p
	}
	return m, d, nil
}
