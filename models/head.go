package models

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// WithClasses returns m with a head for the given number of classes, the number of outputs
// of the dense layer or convolution that makes the first output. Its State is empty:
// InitHead fills it. It returns m itself if m has that number of classes.
func WithClasses(m *Model, classes int) (*Model, error) {
	if classes < 1 || classes > maxClasses {
		return nil, fmt.Errorf("model %s: %s; a head has 1 to %d", m.Architecture,
			problem.Plural(classes, "class"), maxClasses)
	}
	f := m.Graph.Main.Clone()
	h := &head{f: f, classes: classes, outputs: classes}
	if err := h.find(); err != nil {
		return nil, fmt.Errorf("model %s: no head for %s: %w", m.Architecture,
			problem.Plural(classes, "class"), err)
	}
	if h.oldClasses == classes {
		return m, nil
	}
	g := &graph.Graph{Name: m.Graph.Name, State: h.resized(m.Graph.State), Main: f}
	g, err := graph.ParseGraph(g.Text()) // infers all shapes again
	if err != nil {
		return nil, fmt.Errorf("model %s with a head for %s: %w", m.Architecture,
			problem.Plural(classes, "class"), err)
	}
	out := *m
	out.Graph, out.State, out.Labels, out.Thresholds = g, nil, nil, nil
	return &out, nil
}

// InitHead fills the state of m, which WithClasses has made from the model source. It uses the state of
// source, and for the head new tensors, as Init makes them with the seed.
func InitHead(m, source *Model, seed uint64) error {
	p := tensor.NewPhilox(seed, tensor.StreamInit)
	state := make(map[string]tensor.Tensor, len(m.Graph.State))
	for _, s := range m.Graph.State {
		t := source.State[s.Name]
		if !slices.Equal(t.Shape, s.Shape) {
			t = tensor.New(s.DType, s.Shape...)
			if err := initialise(t, s, p); err != nil {
				return fmt.Errorf("model %s: initialising %s: %w", m.Architecture, s.Name, err)
			}
		}
		state[s.Name] = t
	}
	m.State = state
	return nil
}

// head is the layer of a function that distinguishes classes.
type head struct {
	f                   *graph.Function
	classes, oldClasses int
	outputs             int           // number of outputs of the layer
	form                graph.BoxForm // form of the boxes of a detector
	state               []string      // state: its weight and bias, and the tensors of a batch norm after it
}

// find finds the head of the first output, and gives the reshapes after it the new number
// of classes.
func (h *head) find() error {
	v := h.f.Outputs[0].Value
	if s := h.f.Values[v].Type.Shape; len(s) > 0 {
		h.oldClasses = s[0]
	}
	if h.form = h.f.BoxForm(); h.form != "" {
		h.oldClasses -= h.form.Fields()
		return h.findBoxes(h.maker(v))
	}
	return h.trace(v)
}

// trace follows v back to its head. A sum of two values has two heads, as in LR-ASPP.
func (h *head) trace(v graph.Value) error {
	for {
		n := h.maker(v)
		if n == nil {
			return fmt.Errorf("output %s comes from no dense layer or convolution", h.f.Outputs[0].Name)
		}
		switch n.Op {
		case graph.Dense, graph.Conv:
			return h.use(n)
		case graph.Reshape:
			shape, from := n.Ints("shape"), h.f.Values[n.In[0]].Type.Shape
			if len(shape) == 0 || len(from) == 0 || shape[0] != h.oldClasses || from[0] != h.oldClasses {
				return fmt.Errorf("%s (%v) mixes classes with places", h.f.NodeName(n), n.Op)
			}
			shape[0] = h.classes
			n.Attrs = n.Attrs.With("shape", shape)
		case graph.Add:
			if a, b := h.f.Values[n.In[0]].Type, h.f.Values[n.In[1]].Type; a.Kind != graph.Rows ||
				b.Kind != graph.Rows || !slices.Equal(a.Shape, b.Shape) {
				return fmt.Errorf("%s (%v) comes after it", h.f.NodeName(n), n.Op)
			}
			if err := h.trace(n.In[1]); err != nil {
				return err
			}
		case graph.ReduceMean, graph.ReduceMax:
			if slices.Contains(n.Ints("axes"), 0) {
				return fmt.Errorf("%s (%v) mixes classes with each other", h.f.NodeName(n), n.Op)
			}
		case graph.BatchNorm:
			h.useState(n)
		case graph.Softmax, graph.LogSoftmax, graph.GlobalAvgPool, graph.Upsample, graph.Dropout, graph.Relu,
			graph.AvgPool, graph.MaxPool, graph.Sigmoid, graph.Affine:
		default:
			return fmt.Errorf("%s (%v) comes after it", h.f.NodeName(n), n.Op)
		}
		v = n.In[0]
	}
}

// maker returns the node that makes v.
func (h *head) maker(v graph.Value) *graph.Node {
	for i := range h.f.Nodes {
		if slices.Contains(h.f.Nodes[i].Out, v) {
			return &h.f.Nodes[i]
		}
	}
	return nil
}

// use records the state tensors of the head.
func (h *head) use(n *graph.Node) error {
	if n.Op == graph.Conv && n.Int("groups") != 1 {
		return fmt.Errorf("%s (%v) has groups", h.f.NodeName(n), n.Op)
	}
	if !h.useState(n) {
		return fmt.Errorf("the weights of %s are computed", h.f.NodeName(n))
	}
	return nil
}

// useState notes the state tensors among the operands of n after the first. It reports whether all
// of these operands are tensors of the state.
func (h *head) useState(n *graph.Node) bool {
	for _, v := range n.In[1:] {
		if v == graph.None {
			continue
		}
		name := h.f.Values[v].State
		if name == "" {
			return false
		}
		h.state = append(h.state, name)
	}
	return true
}

// resized returns the table of state with the head's tensors in the new size.
func (h *head) resized(table []graph.State) []graph.State {
	table = slices.Clone(table)
	for i, s := range table {
		if slices.Contains(h.state, s.Name) {
			table[i].Shape = append([]int{h.outputs}, s.Shape[1:]...)
		}
	}
	return table
}
