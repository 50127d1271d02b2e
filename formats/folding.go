package formats

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// folding copies a model node by node and folds on the way.
type folding struct {
	graph.Copier
	model *models.Model
	plan  foldPlan
	table []graph.State
	state map[string]tensor.Tensor
}

func (f *folding) run() (*graph.Function, error) {
	f.Inputs()
	for i := range f.From.Nodes {
		n := &f.From.Nodes[i]
		if _, ok := f.plan.layer[i]; ok {
			f.To[n.Out[0]] = f.Value(n.In[0])
			continue
		}
		if norm, ok := f.plan.norm[i]; ok {
			in := append([]graph.Value{f.Value(n.In[0])}, f.fold(n, &f.From.Nodes[norm])...)
			f.To[n.Out[0]] = f.Builder.Node(n.Op, f.From.NodeName(n), n.Attrs, in...)[0]
			continue
		}
		for _, v := range n.In {
			f.declare(v)
		}
		f.Copy(n)
	}
	f.Outputs()
	return f.Builder.Function()
}

// declare declares a state tensor at its first use, and copies its value unless fold has
// computed a new one.
func (f *folding) declare(v graph.Value) {
	if v == graph.None || f.From.Values[v].State == "" {
		return
	}
	name := f.From.Values[v].State
	if _, ok := f.state[name]; !ok {
		f.state[name] = f.model.State[name]
	}
	i := slices.IndexFunc(f.model.Graph.State, func(s graph.State) bool { return s.Name == name })
	f.To[v] = f.Builder.Declare(f.model.Graph.State[i])
}

// fold returns the weight and bias of a layer after folding a batch norm into it.
func (f *folding) fold(layer, norm *graph.Node) []graph.Value {
	values := f.From.Values
	vector := func(i int) []float32 { return f.model.State[values[norm.In[i]].State].F32() }
	gamma, beta, mean, variance := vector(1), vector(2), vector(3), vector(4)
	scale := make([]float64, len(gamma))
	for c := range scale {
		scale[c] = float64(gamma[c]) / math.Sqrt(float64(variance[c])+norm.Float("eps"))
	}
	weight := values[layer.In[1]].State
	f.state[weight] = scaled(f.model.State[weight], layer, scale)
	bias := tensor.New(tensor.F32, len(scale))
	old := operand(layer, 2)
	for c := range scale {
		b := 0.0
		if old != graph.None {
			b = float64(f.model.State[values[old].State].F32()[c])
		}
		bias.F32()[c] = float32(float64((b-float64(mean[c]))*scale[c]) + float64(beta[c]))
	}
	s := graph.State{Name: values[norm.In[2]].State, DType: tensor.F32, Shape: bias.Shape, Role: graph.Bias}
	if old != graph.None {
		s.Name = values[old].State
	}
	f.state[s.Name] = bias
	f.declare(layer.In[1])
	return []graph.Value{f.Value(layer.In[1]), f.Builder.Declare(s)}
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
