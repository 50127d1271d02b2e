package run

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
)

// Function is a compiled function: actions, and a place in memory for every value. A Frame runs it. It is
// immutable once Link has returned it.
type Function struct {
	graph    *graph.Function // the function as rewritten by the compiler: an action for each node
	values   []*Value        // values, indexed by graph.Value
	groups   []*group
	slots    arena.Slots
	copied   []*Value          // inputs that are copied to slots
	retained map[string]*Value // outputs that are retained, by name
	earlier  *Function         // the function that retains values for this one, or nil
	turned   []*Value          // retained values of earlier that are needed in another order
	original map[graph.Value]graph.Value
}

// Graph returns the graph that was compiled: the function after fusion.
func (fn *Function) Graph() *graph.Function { return fn.graph }

// Value returns the description of a value.
func (fn *Function) Value(v graph.Value) *Value { return fn.values[v] }

// Slots returns the memory that the function needs.
func (fn *Function) Slots() *arena.Slots { return &fn.slots }

// Groups returns the nodes of every group, in execution order.
func (fn *Function) Groups() (nodes [][]int) {
	for _, g := range fn.groups {
		nodes = append(nodes, g.nodes)
	}
	return nodes
}

// Given returns the first result that the node of v had in the original function, before other nodes were
// fused with it.
func (fn *Function) Given(v graph.Value) graph.Value {
	if given, ok := fn.original[v]; ok {
		return given
	}
	return v
}

// keeps reports whether a value is an output that is retained.
func (fn *Function) keeps(v graph.Value) bool {
	return slices.ContainsFunc(fn.graph.Outputs, func(o graph.Output) bool { return o.Keep && o.Value == v })
}
