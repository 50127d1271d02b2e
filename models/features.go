package models

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// WithFeatures returns m with values inside the network as its outputs. layers has their
// names in the text form of the graph. An output has the name of its value, with
// underscores in place of slashes, dots and colons. Nodes and tensors that the outputs do
// not need are left out. The error is a *problem.Error for a name that m does not have.
func WithFeatures(m *Model, layers []string) (*Model, error) {
	f := m.Graph.Main.Clone()
	f.Outputs = nil
	for _, name := range layers {
		v := slices.IndexFunc(f.Values, func(v graph.Variable) bool { return v.Name == name })
		if v < 0 || f.Values[v].Type.Kind != graph.Rows {
			return nil, noFeature(f, name)
		}
		if t := f.Values[v].Type; t.DType != tensor.F32 {
			return nil, notNumbers(m, name, t)
		}
		out := outputName(name)
		if slices.ContainsFunc(f.Outputs, func(o graph.Output) bool { return o.Name == out }) {
			return nil, problem.New("features", name, "given twice", "")
		}
		f.Outputs = append(f.Outputs, graph.Output{Name: out, Value: graph.Value(v)})
	}
	f, err := graph.Prune(f, m.Graph.State)
	if err != nil {
		return nil, err
	}
	out := *m
	out.Graph = &graph.Graph{Name: m.Graph.Name, State: stateOf(f, m.Graph.State), Main: f}
	out.State, out.Labels, out.FileTypes, out.Thresholds = map[string]tensor.Tensor{}, nil, nil, nil
	out.Tail = nil
	for _, s := range out.Graph.State {
		out.State[s.Name] = m.State[s.Name]
	}
	return &out, out.Check()
}

// notNumbers refuses a value that cannot be an output because it has bytes or pictures.
func notNumbers(m *Model, name string, t graph.Type) error {
	if m.Int8() {
		return problem.New("features", name, fmt.Sprintf("it is %v: bytes of an int8 template, which has no scale "+
			"for them", t), "take a layer of f32, or the float32 model that the template was made of")
	}
	return problem.New("features", name, fmt.Sprintf("it is %v: pictures, not numbers", t), "")
}

// outputName returns the name of a value's output, which also names files.
func outputName(value string) string {
	return strings.NewReplacer("/", "_", ".", "_", ":", "_").Replace(value)
}

// noFeature returns the error for a name that no value has. The field Known of the error
// has the names of all values.
func noFeature(f *graph.Function, name string) error {
	var known []string
	for _, n := range f.Nodes {
		for _, v := range n.Out {
			if f.Values[v].Type.Kind == graph.Rows {
				known = append(known, f.Values[v].Name)
			}
		}
	}
	err := problem.New("features", name, fmt.Sprintf("the model has no layer of that name; there are %s, %s",
		problem.Plural(len(known), "value"), firstNames(known)), "the text form of the graph has all names")
	err.Known = known
	return err
}

// stateOf returns the part of a table that f reads.
func stateOf(f *graph.Function, table []graph.State) []graph.State {
	read := map[string]bool{}
	for _, v := range f.Values {
		read[v.State] = true
	}
	return slices.DeleteFunc(slices.Clone(table), func(s graph.State) bool { return !read[s.Name] })
}
