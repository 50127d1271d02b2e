package devicetest

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// updateRule is the update of a network's parameters.
type updateRule struct {
	slots  []string // suffixes of the names of a parameter's optimizer state
	values device.Hyper
	hyper  func(b *netBuilder) map[string]graph.Value
	update func(b *netBuilder, s graph.State, g graph.Value, h map[string]graph.Value)
}

// slot returns the value of a parameter's optimizer state.
func slot(b *netBuilder, s graph.State, name string) graph.Value {
	return b.Declare(graph.State{Name: s.Name + name, DType: s.DType, Shape: s.Shape, Role: graph.Optimizer})
}

// inputs declares hyper-parameters.
func inputs(names ...string) func(*netBuilder) map[string]graph.Value {
	return func(b *netBuilder) map[string]graph.Value {
		h := map[string]graph.Value{}
		for _, name := range names {
			h[name] = b.Input(name, scalarType)
		}
		return h
	}
}

// updates appends a node, and makes its results the next values of the state tensors named in state.
func updates(b *netBuilder, o graph.Op, attrs graph.Attrs, state []string, operands ...graph.Value) {
	for i, v := range b.Node(o, b.UniqueName("next"), attrs, operands...) {
		b.Update(state[i], v)
	}
}

// momentumRule is SGD with momentum and weight decay.
var momentumRule = updateRule{
	slots:  []string{".velocity"},
	values: device.Hyper{"lr": 0.125},
	hyper:  inputs("lr"),
	update: func(b *netBuilder, s graph.State, g graph.Value, h map[string]graph.Value) {
		updates(b, graph.SGD, graph.Attrs{}.With("weight_decay", 1e-4), []string{s.Name, s.Name + ".velocity"},
			b.param(s.Name), g, slot(b, s, ".velocity"), h["lr"])
	},
}

// adamRule is AdamW. It also updates two moving averages with the weights before the step. The rate of
// one average is fixed, and the rate of the other is a hyper-parameter of the step.
var adamRule = updateRule{
	slots:  []string{".first", ".second", ".average", ".warm"},
	values: device.Hyper{"lr": 0.01, "step": 0.02, "root": 1.5, "rate": 0.9},
	hyper:  inputs("lr", "step", "root", "rate"),
	update: func(b *netBuilder, s graph.State, g graph.Value, h map[string]graph.Value) {
		w := b.param(s.Name)
		updates(b, graph.EMA, graph.Attrs{}.With("decay", 0.75), []string{s.Name + ".average"},
			slot(b, s, ".average"), w)
		warm := slot(b, s, ".warm")
		scaled := b.Op(graph.Mul, b.UniqueName("scaled"),
			[]graph.Value{b.Op(graph.Sub, b.UniqueName("moved"), []graph.Value{w, warm}), h["rate"]})
		updates(b, graph.Add, nil, []string{s.Name + ".warm"}, warm, scaled)
		updates(b, graph.AdamW, graph.Attrs{}.With("weight_decay", 0.01).With("eps", 1e-3),
			[]string{s.Name, s.Name + ".first", s.Name + ".second"},
			w, g, slot(b, s, ".first"), slot(b, s, ".second"), h["lr"], h["step"], h["root"])
	},
}
