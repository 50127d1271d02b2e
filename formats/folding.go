package formats

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// folding copies a model node by node and folds on the way.
type folding struct {
	from  *models.Model
	plan  foldPlan
	b     *graph.Builder
	table []graph.State
	state map[string]tensor.Tensor
	to    []graph.Value // by value of the old function
}

func (f *folding) run() (*graph.Function, error) {
	main := f.from.Graph.Main
	for _, v := range main.Inputs {
		f.to[v] = f.b.Input(main.Values[v].Name, main.Values[v].Type)
	}
	for i := range main.Nodes {
		n := &main.Nodes[i]
		if at, ok := f.plan.layer[i]; ok {
			f.to[n.Out[0]] = f.to[main.Nodes[at].Out[0]]
			continue
		}
		in := make([]graph.Value, len(n.In))
		for k, v := range n.In {
			in[k] = f.value(v)
		}
		if norm, ok := f.plan.norm[i]; ok {
			in = append([]graph.Value{in[0]}, f.fold(n, &main.Nodes[norm])...)
		}
		for k, v := range f.b.Node(n.Op, main.NodeName(n), n.Attrs, in...) {
			f.to[n.Out[k]] = v
		}
	}
	for _, o := range main.Outputs {
		f.b.Output(o.Name, f.value(o.Value), o.Keep)
	}
	return f.b.Function()
}

// value returns what has become of a value. A state tensor is declared, and
// taken over unless fold has made another one, when it is first read.
func (f *folding) value(v graph.Value) graph.Value {
	if v == graph.None {
		return graph.None
	}
	name := f.from.Graph.Main.Values[v].State
	if name == "" {
		return f.to[v]
	}
	for _, s := range f.from.Graph.State {
		if s.Name == name {
			if _, ok := f.state[name]; !ok {
				f.state[name] = f.from.State[name]
			}
			return f.b.Declare(s)
		}
	}
	return graph.None
}

// fold returns the weight and bias of a layer that takes in a batch norm.
func (f *folding) fold(layer, norm *graph.Node) []graph.Value {
	values := f.from.Graph.Main.Values
	vector := func(i int) []float32 { return f.from.State[values[norm.In[i]].State].F32() }
	gamma, beta, mean, variance := vector(1), vector(2), vector(3), vector(4)
	scale := make([]float64, len(gamma))
	for c := range scale {
		scale[c] = float64(gamma[c]) / math.Sqrt(float64(variance[c])+norm.Float("eps"))
	}
	weight := values[layer.In[1]].State
	f.state[weight] = scaled(f.from.State[weight], layer, scale)
	bias := tensor.New(tensor.F32, len(scale))
	old := operand(layer, 2)
	for c := range scale {
		b := 0.0
		if old != graph.None {
			b = float64(f.from.State[values[old].State].F32()[c])
		}
		bias.F32()[c] = float32(float64((b-float64(mean[c]))*scale[c]) + float64(beta[c]))
	}
	s := graph.State{Name: values[norm.In[2]].State, DType: tensor.F32, Shape: bias.Shape, Role: graph.Bias}
	if old != graph.None {
		s.Name = values[old].State
	}
	f.state[s.Name] = bias
	return []graph.Value{f.value(layer.In[1]), f.b.Declare(s)}
}

// scaled multiplies the weights of each output channel.
func scaled(w tensor.Tensor, layer *graph.Node, scale []float64) tensor.Tensor {
	out := tensor.New(tensor.F32, w.Shape...)
	src, dst := w.F32(), out.F32()
	channel := func(i int) int { return i / (len(src) / len(scale)) } // axis 0
	if layer.Op == graph.ConvTranspose {
		groups := int(layer.Int("groups")) // [C, O/groups, kh, kw]
		perGroup, window := w.Shape[1], w.Shape[2]*w.Shape[3]
		channel = func(i int) int {
			in := i / (perGroup * window)
			return in/(w.Shape[0]/groups)*perGroup + i/window%perGroup
		}
	}
	for i, x := range src {
		dst[i] = float32(float64(x) * scale[channel(i)])
	}
	return out
}
