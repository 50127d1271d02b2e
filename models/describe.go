package models

// Description is an architecture of the zoo in figures, as JSON has it.
type Description struct {
	Name       string  `json:"name"`
	About      string  `json:"about"`
	Input      string  `json:"input"`
	Classes    int     `json:"classes"`
	Parameters int     `json:"parameters"`
	Flops      float64 `json:"flops"`
	BatchNorms int     `json:"batch_norms"`
	LR         float64 `json:"lr"` // that it is trained with by default
	Layers     []Layer `json:"layers,omitempty"`
}

// Describe builds a as it is in the zoo, without state, and describes it but
// for its layers.
func (a Architecture) Describe() (*Model, Description, error) {
	m, err := Build(a.Name, Options{})
	if err != nil {
		return nil, Description{}, err
	}
	s := m.Summary()
	return m, Description{Name: a.Name, About: a.About, Input: a.Input.String(), Classes: a.Classes,
		Parameters: s.Parameters, Flops: s.Flops, BatchNorms: s.Norms, LR: a.LR}, nil
}
