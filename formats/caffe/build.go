package caffe

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// errNoInput reports that a network does not give the size of its input.
var errNoInput error = problem.Failure("",
	"the network does not say how large its input is: it was saved with its data layer",
	"name its deploy.prototxt with {arch}, or say the size with {input} 3,224,224")

// build converts a network to a graph.
type build struct {
	*graph.Builder
	net     *net
	file    *foreign.File // file that gets the remarks
	table   []graph.State
	state   map[string]tensor.Tensor
	values  map[string]graph.Value // values by their names, at the current layer
	logits  map[string]graph.Value // operand of the softmax that made a blob, by the blob's name
	read    map[string]bool        // blobs that a layer has read since they were made
	order   []string               // names of blobs, in the order in which layers made them
	scored  []string               // blobs that a loss reads
	trained string                 // the blob that a softmax loss reads
}

// model converts n to a model of package models: a graph with its weights.
func (n *net) model(f *foreign.File) (*models.Model, error) {
	b := &build{net: n, file: f, state: map[string]tensor.Tensor{}, values: map[string]graph.Value{},
		logits: map[string]graph.Value{}, read: map[string]bool{}}
	b.Builder = graph.NewBuilder("main", &b.table)
	if err := b.input(); err != nil {
		return nil, err
	}
	for i, l := range n.layers {
		if err := b.layer(i, l); err != nil {
			return nil, fmt.Errorf("layer %s (%s): %w", l.name, l.kind, err)
		}
		if err := b.Err(); err != nil {
			return nil, fmt.Errorf("layer %s (%s): %w", l.name, l.kind, err)
		}
	}
	b.outputs()
	main, err := b.Function()
	if err != nil {
		return nil, err
	}
	name := n.name
	if name == "" {
		name = "caffe"
	}
	g := &graph.Graph{Name: clean(name), State: b.table, Main: main}
	m := &models.Model{Architecture: name, Graph: g, State: b.state}
	if err := m.Check(); err != nil {
		return nil, err
	}
	return m, nil
}

// layer adds the nodes of layer i to the graph.
func (b *build) layer(i int, l *layer) error {
	k, ok := kinds[l.kind]
	if l.absent(b.net.phase) {
		return nil
	}
	if k.make != nil {
		if err := cmp.Or(l.checkRules(), l.checkSettings(k)); err != nil {
			return err
		}
	}
	switch {
	case !ok && refusals[l.kind] != nil:
		return refusals[l.kind]
	case !ok:
		return errors.New("this type of layer is not supported")
	case k.make == nil || l.absorbed:
		if k.loss && len(l.bottom) > 0 {
			b.scored = append(b.scored, l.bottom[0])
			if l.kind == "SoftmaxWithLoss" {
				b.trained = l.bottom[0]
			}
		}
		return nil
	case len(l.bottom) < k.inputs || len(l.top) < 1,
		!k.variadic && (len(l.bottom) > max(k.inputs, k.maxInputs) || len(l.top) != 1):
		return fmt.Errorf("%d inputs and %d outputs, want %d and 1", len(l.bottom), len(l.top), k.inputs)
	}
	c := &call{build: b, layer: l, index: i, p: l.params[k.param]}
	for _, name := range l.bottom {
		v, ok := b.values[name]
		if !ok {
			return fmt.Errorf("no layer before it makes %q", name)
		}
		c.in = append(c.in, v)
		b.read[name] = true
	}
	return k.make(c)
}

// set makes v the blob of that name for all later layers.
func (b *build) set(name string, v graph.Value) {
	b.values[name] = v
	delete(b.logits, name)
	b.read[name] = false
	b.order = append(slices.DeleteFunc(b.order, func(s string) bool { return s == name }), name)
}

// outputs declares as results, by name, the values that no layer reads. A single result
// that comes from a softmax is followed by the operand of the softmax, as logits. A single
// result that a softmax loss trains is named logits, too.
func (b *build) outputs() {
	var last []string
	for _, name := range b.order {
		if !b.read[name] || slices.Contains(b.scored, name) {
			last = append(last, name)
		}
	}
	if len(last) == 1 {
		v, name := b.values[last[0]], last[0]
		if logits, ok := b.logits[name]; ok {
			var names foreign.Names
			b.Output(names.Free(clean(name)), v, false)
			b.Output(names.Free("logits"), logits, false)
			return
		}
		if name == b.trained {
			b.Output("logits", v, false)
			return
		}
	}
	for _, name := range last {
		b.Output(clean(name), b.values[name], false)
	}
}

// declare adds a parameter and its value.
func (b *build) declare(name string, role graph.Role, t tensor.Tensor) graph.Value {
	name = clean(name)
	if _, twice := b.state[name]; twice {
		b.Fail(fmt.Errorf("two parameters are called %s", name))
		return graph.None
	}
	b.state[name] = t
	return b.Declare(graph.State{Name: name, DType: t.DType, Shape: t.Shape, Role: role,
		Init: graph.Init{Rule: initRules[role]}})
}

// initRules are the rules by which a parameter of each role is initialised for training.
var initRules = map[graph.Role]string{graph.Weight: "xavier_uniform", graph.Bias: "zeros",
	graph.Gamma: "ones", graph.Beta: "zeros", graph.Mean: "zeros", graph.Variance: "ones"}

// clean replaces characters that are not allowed in names of a graph.
func clean(name string) string {
	out := []byte(name)
	for i, c := range out {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '.' && c != '/' && c != '-') {
			out[i] = '_'
		}
	}
	if len(out) == 0 {
		return "_"
	}
	return string(out[:min(len(out), 200)])
}
