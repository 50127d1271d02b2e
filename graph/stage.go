package graph

import "slices"

// Staged reports whether p is the program of a stage. Its steps are Forward, Backward and
// Reduce.
func (p *Program) Staged() bool { return p.Function(Backward) != nil }

// Given returns the inputs of f that are given to a run of it, in order: those that no other
// function keeps for it.
func (p *Program) Given(f *Function) []Value {
	retained := p.Retained(f.Name)
	if len(retained) == 0 {
		return f.Inputs
	}
	return slices.DeleteFunc(slices.Clone(f.Inputs), func(v Value) bool {
		_, ok := retained[f.Values[v].Name]
		return ok
	})
}
