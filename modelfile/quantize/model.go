package quantize

import (
	"maps"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// prepared is a model in the form that is quantised.
type prepared struct {
	*models.Model
	stats *statistics
	stays
}

// stays maps the names of nodes that stay float32 to the reason.
type stays map[string]string

func (s stays) remains(name string) bool { return s[name] != "" }

// and returns a copy of s with more nodes.
func (s stays) and(names []string, why string) stays {
	out := maps.Clone(s)
	for _, name := range names {
		out[name] = why
	}
	return out
}

// prepare returns m without dropout, with activations joined and batch norms folded. keep are patterns
// of names of nodes that stay float32.
func prepare(m *models.Model, keep []string) (*prepared, error) {
	eval, float, err := evaluated(m, keep)
	if err != nil {
		return nil, err
	}
	folded, _, err := formats.Fold(eval)
	if err != nil {
		return nil, err
	}
	float.coverReaders(folded.Graph.Main)
	s := &statistics{model: folded, moments: map[graph.Value][]moments{}, source: map[graph.Value]string{},
		norms: normMoments(eval)}
	s.learn(folded.Graph.Main)
	return &prepared{folded, s, float}, nil
}

// evaluated returns m without dropout and with activations joined. It also returns the nodes that
// stay float32: those that match keep, and those that do so in every detector.
func evaluated(m *models.Model, keep []string) (*models.Model, stays, error) {
	if m.Fields != nil {
		return nil, nil, problem.Advise("predict, bench and serve run it in float32 as it is",
			"quantization needs a model with one input; model %s has %d: %s", m.Architecture, len(m.Fields),
			m.DescribeInputs())
	}
	if err := m.CheckWhole(); err != nil {
		return nil, nil, err
	}
	if m.Int8() {
		advice := "take the template that it was made of"
		if m.Quantised != nil {
			advice += ", sha256 " + m.Quantised.From
		}
		return nil, nil, problem.New("", "", "the model is int8 already", advice)
	}
	main, err := graph.Eval(m.Graph.Main, m.Graph.State)
	if err != nil {
		return nil, nil, err
	}
	eval := m.Clone()
	eval.Graph = &graph.Graph{Name: m.Graph.Name, State: m.Graph.State, Main: main}
	if err := eval.JoinActivations(); err != nil {
		return nil, nil, err
	}
	float, err := keeps(eval.Graph.Main, keep)
	if err != nil {
		return nil, nil, err
	}
	return eval, detectorEnds(eval, float), nil
}
