package models

import (
	"fmt"
	"path"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Frozen returns the names of the trained tensors that match one of the
// patterns (path.Match: "*" matches any characters, "layer1.*" a stage).
// Training does not change them. A pattern without a match is an error.
func Frozen(state []graph.State, patterns []string) (map[string]bool, error) {
	all := namesOf(state, func(s graph.State) bool { return s.Role.Trained() })
	names, err := matching(all, "freeze", patterns, "weight")
	if err != nil {
		return nil, err
	}
	frozen := map[string]bool{}
	for _, name := range names {
		frozen[name] = true
	}
	return frozen, nil
}

// WithTrained returns m with the constants that match one of the patterns trained, without weight decay by
// default. A pattern that matches no constant of floats is an error.
func WithTrained(m *Model, patterns []string) (*Model, error) {
	all := namesOf(m.Graph.State, func(s graph.State) bool {
		return s.Role == graph.Constant && s.DType == tensor.F32
	})
	names, err := matching(all, "train-tensors", patterns, "constant")
	if err != nil || len(names) == 0 {
		return m, err
	}
	out := *m
	g := *m.Graph
	out.Graph, g.State = &g, slices.Clone(g.State)
	for i := range g.State {
		if slices.Contains(names, g.State[i].Name) {
			g.State[i].Role, g.State[i].Init = graph.Bias, graph.Init{Rule: "zeros"}
		}
	}
	return &out, nil
}

// matching returns the names that match one of the patterns of an option.
func matching(candidates []string, option string, patterns []string, kind string) (names []string,
	err error) {
	for _, p := range patterns {
		found := false
		for _, name := range candidates {
			ok, err := path.Match(p, name)
			if err != nil {
				return nil, problem.Wrap(option, fmt.Errorf("pattern %q: %w", p, err))
			}
			if ok {
				names, found = append(names, name), true
			}
		}
		if !found {
			text := "matches no " + kind + "; there are " + firstNames(candidates)
			if len(candidates) == 0 {
				text = "matches no " + kind + "; the model has none"
			}
			e := problem.New(option, p, text, "")
			e.Known = candidates
			return nil, e
		}
	}
	return names, nil
}

func namesOf(state []graph.State, is func(graph.State) bool) (names []string) {
	for _, s := range state {
		if is(s) {
			names = append(names, s.Name)
		}
	}
	return names
}
