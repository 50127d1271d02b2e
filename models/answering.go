package models

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Names of first outputs that are not logits of classes that exclude each other. They are
// part of every file format that names outputs.
const (
	outputLabels  = "label_logits" // logits of labels that do not exclude each other
	outputNumbers = "values"
)

// Names of the constants that ForNumbers adds.
const (
	stateStd  = "target.std"
	stateMean = "target.mean"
)

// ForLabels returns m with a first output named outputLabels, unless it ends in a sigmoid,
// which means the same.
func ForLabels(m *Model) *Model {
	if op, _ := m.Graph.Main.OutputOp(0); op == graph.Sigmoid {
		return m
	}
	return m.withOutput(outputLabels)
}

// ForNumbers returns m with a first output named outputNumbers. Unless std is nil, each of
// its K numbers is multiplied by its std, and its mean is added, so that a network with
// outputs of about 1 predicts numbers in other units. mean and std are constants in the
// graph and replace those that m already has.
func ForNumbers(m *Model, mean, std []float64) (*Model, error) {
	out := m.withOutput(outputNumbers)
	if std == nil {
		return out, nil
	}
	out.State = make(map[string]tensor.Tensor, len(m.State)+2)
	for name, t := range m.State {
		out.State[name] = t
	}
	_, scaled := m.State[stateStd]
	if !scaled {
		if err := out.scaled(len(std)); err != nil {
			return nil, err
		}
	}
	for name, values := range map[string][]float64{stateStd: std, stateMean: mean} {
		t := tensor.New(tensor.F32, len(values))
		for k, v := range values {
			t.F32()[k] = float32(v)
		}
		out.State[name] = t
	}
	return out, out.Check()
}

// withOutput returns m with another name of its first output.
func (m *Model) withOutput(name string) *Model {
	out, main := *m, m.Graph.Main.Clone()
	main.Outputs[0].Name = name
	out.Graph = &graph.Graph{Name: m.Graph.Name, State: m.Graph.State, Main: main}
	return &out
}

// scaled appends the constants of n numbers to the graph.
func (m *Model) scaled(n int) error {
	f := m.Graph.Main
	g := &graph.Graph{Name: m.Graph.Name, State: append([]graph.State{}, m.Graph.State...)}
	c := graph.NewCopier(f, graph.NewBuilder(f.Name, &g.State))
	declare := func(name, rule string) graph.Value {
		return c.Builder.Declare(graph.State{Name: name, DType: tensor.F32, Shape: []int{n}, Role: graph.Constant,
			Init: graph.Init{Rule: rule}})
	}
	c.Inputs()
	for i := range f.Nodes {
		c.Copy(&f.Nodes[i])
	}
	in := c.Value(f.Outputs[0].Value)
	op := func(op graph.Op, name string, x, by graph.Value) graph.Value {
		return c.Builder.Op(op, c.Builder.UniqueName(name), []graph.Value{x, by})
	}
	y := op(graph.Mul, "target.scaled", in, declare(stateStd, "ones"))
	y = op(graph.Add, "target.answer", y, declare(stateMean, "zeros"))
	for i, o := range f.Outputs {
		if i > 0 {
			y = c.Value(o.Value)
		}
		c.Builder.Output(o.Name, y, o.Keep)
	}
	var err error
	g.Main, err = c.Builder.Function()
	m.Graph = g
	return err
}
