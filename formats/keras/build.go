package keras

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// build converts a description to a graph.
type build struct {
	g              *graph.Builder
	table          []graph.State
	state          map[string]tensor.Tensor
	weights        weights
	labels         map[*layer]string // names in the graph
	used           foreign.Names     // labels that are taken
	major          int               // version of Keras
	first          bool              // the model has its channels first
	flip           bool              // kernels are for a true convolution, as in Theano
	old            bool              // images are resized as TensorFlow 1 does
	notes          []note
	givenShape     []int                  // the input's shape, for lengths that the file leaves open
	calls          int                    // calls that were built
	transpositions map[string]graph.Value // existing transpositions, by value and permutation
	weightBudget   int                    // bytes of weights that may still be read
}

// note is a remark about a layer for the person who imports the model.
type note struct{ where, text string }

func (b *build) note(where, text string) { b.notes = append(b.notes, note{where, text}) }

// toModel makes a model of package models from a network and its weights.
func (b *build) toModel(n *network) (*models.Model, error) {
	if err := b.chooseOrder(n); err != nil {
		return nil, err
	}
	b.state, b.labels = map[string]tensor.Tensor{}, map[*layer]string{}
	b.transpositions = map[string]graph.Value{}
	b.g = graph.NewBuilder("main", &b.table)
	if len(n.inputs) != 1 {
		return nil, fmt.Errorf("model %s has %d inputs; 1 is supported", n.name, len(n.inputs))
	}
	s := newScope(b, n, "")
	var outs []flow
	for _, r := range n.outputs {
		f, err := s.eval(r)
		if err != nil {
			return nil, err
		}
		outs = append(outs, f)
	}
	b.outputs(n, outs)
	main, err := b.g.Function()
	if err != nil {
		return nil, err
	}
	name := foreign.Clean(n.name, "keras")
	m := &models.Model{Architecture: name, Graph: &graph.Graph{Name: name, State: b.table, Main: main},
		State: b.state}
	if err := m.JoinActivations(); err != nil {
		return nil, err
	}
	return m, m.Check()
}

// outputs declares the results of the model by the names of their layers, or by their keys
// in a dict. A classifier's result after a softmax is followed by the operand of the
// softmax, as logits.
func (b *build) outputs(n *network, outs []flow) {
	var names foreign.Names
	for i, f := range outs {
		f = b.outputFlow(f)
		name := n.outputs[i].layer
		if n.outKeys != nil {
			name = n.outKeys[i]
		}
		b.g.Output(names.Free(foreign.Clean(name, "output")), f.v, false)
		if len(outs) == 1 && f.logits != graph.None {
			b.g.Output(names.Free("logits"), f.logits, false)
		}
	}
}

// chooseOrder determines whether the model has its channels first or last.
func (b *build) chooseOrder(n *network) error {
	seen := map[string]string{}
	var odd error
	n.leaves("", func(path string, l *layer) {
		f := l.fields.text("data_format", "")
		if odd == nil && (l.fields.err != nil || f != "" && f != "channels_first" && f != "channels_last") {
			odd = fmt.Errorf("layer %s: data_format is %.80s", path, l.fields.m["data_format"])
		}
		if f != "" && l.class != "Flatten" && seen[f] == "" {
			seen[f] = path
		}
	})
	b.first = seen["channels_first"] != ""
	if b.first && seen["channels_last"] != "" {
		return fmt.Errorf("layer %s keeps channels first, layer %s last; a model of both is not supported",
			seen["channels_first"], seen["channels_last"])
	}
	return odd
}

// label returns the name of a layer in the graph, the same for every call of it.
func (b *build) label(path string, l *layer) string {
	if s, ok := b.labels[l]; ok {
		return s
	}
	s := b.used.Free(foreign.Clean(path, "layer"))
	b.labels[l] = s
	return s
}

// declare adds a weight to the model's state and returns the value that reads it.
func (b *build) declare(name string, role graph.Role, t tensor.Tensor) graph.Value {
	init := map[graph.Role]string{graph.Weight: "xavier_uniform", graph.Bias: "zeros", graph.Gamma: "ones",
		graph.Beta: "zeros", graph.Mean: "zeros", graph.Variance: "ones"}[role]
	v := b.g.Declare(graph.State{Name: name, DType: t.DType, Shape: slices.Clone(t.Shape), Role: role,
		Init: graph.Init{Rule: init}})
	if have, ok := b.state[name]; ok && !tensor.Equal(have, t) {
		b.g.Fail(fmt.Errorf("weight %s is shared by calls that take their elements in different orders", name))
	}
	b.state[name] = t
	return v
}
