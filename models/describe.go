package models

// Description has the figures of an architecture of the zoo, in the form of its JSON.
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

// Describe returns the model of a with its default options except for height and width,
// unless these are zero, without state, and its description without layers.
func (a Architecture) Describe(size Size) (*Model, Description, error) {
	if size != (Size{}) {
		a.Input.Height, a.Input.Width = size.Height, size.Width
	}
	m, err := Build(a.Name, Options{Input: a.Input})
	if err != nil {
		return nil, Description{}, err
	}
	s := m.Summary()
	return m, Description{Name: a.Name, About: a.About, Input: a.Input.String(), Classes: a.Classes,
		Parameters: s.Parameters, Flops: s.Flops, BatchNorms: s.Norms, LR: a.LR}, nil
}
