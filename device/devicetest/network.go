package devicetest

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// network is a small network with batch norm. Its program is made for replicas, like the programs
// of package parallel.
type network struct {
	name       string
	mode       string // the values that batch norm normalises over: "batch" or "replica"
	minimum    int    // replicas with fewer values use the running statistics
	input      []int  // (H, W, C)
	classes    int
	parameters []graph.State // the trained parameters
	body       func(b *netBuilder, image graph.Value) (logits graph.Value)
	rule       updateRule
}

// netBuilder builds one function of a network.
type netBuilder struct {
	*graph.Builder
	network
	training bool
	norms    []graph.Output // moments of all norms so far, in training
}

// program returns the program with the functions train, commit and predict.
func (n network) program() (*graph.Program, error) {
	p := &graph.Program{Name: n.name}
	for _, f := range []struct {
		name  string
		build func(*netBuilder) error
	}{{graph.Train, n.train}, {graph.Commit, n.commit}, {graph.Predict, n.predict}} {
		b := &netBuilder{Builder: graph.NewBuilder(f.name, &p.State), network: n, training: f.name == graph.Train}
		if err := f.build(b); err != nil {
			return nil, err
		}
		fn, err := b.Function()
		if err != nil {
			return nil, err
		}
		p.Functions = append(p.Functions, fn)
	}
	return p, nil
}

// do appends a node. pairs are attribute keys and values in turn.
func (b *netBuilder) do(o graph.Op, name string, in values, pairs ...any) graph.Value {
	return b.Op(o, name, in, pairs...)
}

// param returns the value of a parameter, which is a trained state tensor.
func (b *netBuilder) param(name string) graph.Value {
	i := slices.IndexFunc(b.parameters, func(s graph.State) bool { return s.Name == name })
	return b.Declare(b.parameters[i])
}

// statistic returns the value of a running statistic of x.
func (b *netBuilder) statistic(name string, x graph.Value, role graph.Role) graph.Value {
	return b.Declare(graph.State{Name: name, DType: tensor.F32, Shape: b.Type(x).Shape[:1], Role: role})
}

// norm appends batch norm. In training it uses the statistics of the batch or replica,
// otherwise the running statistics.
func (b *netBuilder) norm(name string, x graph.Value) graph.Value {
	gamma, beta := b.param(name+".gamma"), b.param(name+".beta")
	if !b.training {
		return b.do(graph.BatchNorm, name, values{x, gamma, beta,
			b.statistic(name+".mean", x, graph.Mean), b.statistic(name+".var", x, graph.Variance)})
	}
	m := b.do(graph.Moments, name+".moments", values{x})
	b.norms = append(b.norms, graph.Output{Name: name + ".moments", Value: m})
	switch {
	case b.mode == "batch":
		m = b.do(graph.AllReduce, name+".merged", values{m}, "of", "moments")
	case b.minimum > 0:
		running := b.do(graph.RunningMoments, name+".running", values{
			b.statistic(name+".mean", x, graph.Mean), b.statistic(name+".var", x, graph.Variance)})
		m = b.do(graph.SelectMoments, name+".selected", values{m, running}, "min", b.minimum)
	}
	return b.do(graph.Normalise, name, values{x, m, gamma, beta}, "over", b.mode)
}

// logits appends the layers of the network, from the input on, and returns the logits.
func (b *netBuilder) logits() graph.Value {
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.U8, Shape: b.input})
	channels := b.input[2]
	image := b.do(graph.Image, "image", values{x},
		"mean", slices.Repeat([]float64{0.5}, channels), "std", slices.Repeat([]float64{0.25}, channels))
	return b.body(b, image)
}

func (n network) predict(b *netBuilder) error {
	b.Output("logits", b.logits(), false)
	return b.Err()
}

// train appends the forward pass, the backward pass, and all reductions at the end.
// The outputs are logits, loss, number of correct rows, and moments.
func (n network) train(b *netBuilder) error {
	logits := b.logits()
	labels := b.Input("labels", graph.Type{Kind: graph.Rows, DType: tensor.I32, Shape: []int{}})
	inverse := b.Input("inverse", scalarType)
	loss := b.do(graph.SoftmaxXent, "loss", values{logits, labels})
	hits := b.do(graph.Correct, "correct", values{logits, labels})
	var wrt values
	for _, s := range n.parameters {
		wrt = append(wrt, b.param(s.Name))
	}
	grads, err := graph.Gradient(b.Builder, map[graph.Value]graph.Value{loss: inverse}, wrt)
	if err != nil {
		return err
	}
	b.Output("logits", logits, false)
	b.Output("loss", b.reduced(loss), false)
	b.Output("correct", b.reduced(hits), false)
	for i, s := range n.parameters {
		b.Output("grad."+s.Name, b.reduced(grads[wrt[i]]), true)
	}
	for _, m := range b.norms {
		b.Output(m.Name, m.Value, false)
	}
	return b.Err()
}

var scalarType = graph.Type{Kind: graph.Whole, DType: tensor.F32, Shape: []int{}}

// reduced returns v if its kind is whole. Otherwise it returns the all-reduce of v.
func (b *netBuilder) reduced(v graph.Value) graph.Value {
	if b.Type(v).Kind == graph.Whole {
		return v
	}
	return b.do(graph.AllReduce, b.UniqueName("sum"), values{v})
}

func (n network) commit(b *netBuilder) error {
	h := n.rule.hyper(b)
	for _, s := range n.parameters {
		g := b.Input("grad."+s.Name, graph.Type{Kind: graph.Whole, DType: s.DType, Shape: s.Shape})
		n.rule.update(b, s, g, h)
	}
	return b.Err()
}

// names returns the state tensors that a commit changes.
func (n network) names() []string {
	var names []string
	for _, s := range n.parameters {
		names = append(names, s.Name)
		for _, slot := range n.rule.slots {
			names = append(names, s.Name+slot)
		}
	}
	return names
}
