package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// New returns a model of a graph. Its State is empty: fill it with Init or InitFrom.
func New(g *graph.Graph) (*Model, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	if n := len(g.Main.Inputs); n != 1 {
		return nil, fmt.Errorf("graph %s has %s, want 1", g.Name, problem.Plural(n, "input"))
	}
	return &Model{Architecture: g.Name, Graph: g, State: map[string]tensor.Tensor{},
		Preprocess: Preprocess{Known: true}}, nil
}

// graphLR is the learning rate of models that are not in the zoo.
const graphLR = 0.05

// DefaultLR returns the default learning rate of an architecture by its name, or a
// general default for names that the zoo does not have.
func DefaultLR(name string) float64 {
	if a, err := Lookup(name); err == nil {
		return a.LR
	}
	return graphLR
}
