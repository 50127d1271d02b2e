package formats

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Folded lists the batch norms that Fold has folded, and those that it has kept, by name.
type Folded struct {
	Into     []string // folded into the layer before them
	Unfolded []string // left as they are
	Why      []string // the reason, for each of Unfolded
}

// Fold returns a copy of m with its batch norms folded into the preceding convolution,
// transposed convolution or dense layer: weight*s and (bias-mean)*s+beta, with s =
// gamma/sqrt(variance+eps) per channel, computed in float64. A batch norm is kept if
// another node reads the layer's result or its weight. Fold returns an error if statistics
// are not finite.
//
// FoldProven also measures the rounding difference between m and the result.
func Fold(m *models.Model) (*models.Model, Folded, error) {
	plan, report, err := planFold(m)
	if err != nil {
		return nil, report, err
	}
	f := &folding{model: m, plan: plan, state: map[string]tensor.Tensor{}}
	f.Copier = graph.NewCopier(m.Graph.Main, graph.NewBuilder(m.Graph.Main.Name, &f.table))
	main, err := f.run()
	if err != nil {
		return nil, report, err
	}
	out := *m
	out.Graph = &graph.Graph{Name: m.Graph.Name, State: f.table, Main: main}
	out.State = f.state
	return &out, report, out.Check()
}

// foldPlan pairs layers with the batch norms folded into them, as indices of nodes.
type foldPlan struct {
	norm  map[int]int // batch norm of each layer
	layer map[int]int // layer of each batch norm
}

// planFold finds the batch norms that can be folded, and rejects invalid ones.
func planFold(m *models.Model) (foldPlan, Folded, error) {
	f := m.Graph.Main
	plan, report := foldPlan{map[int]int{}, map[int]int{}}, Folded{}
	users := f.Users()
	maker := map[graph.Value]int{}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		for _, v := range n.Out {
			maker[v] = i
		}
		if n.Op != graph.BatchNorm {
			continue
		}
		name := f.NodeName(n)
		at, why := layerBefore(f, n, maker, users)
		if why != "" {
			report.Unfolded, report.Why = append(report.Unfolded, name), append(report.Why, why)
			continue
		}
		if err := checkFold(m, n); err != nil {
			return plan, report, fmt.Errorf("folding %s into %s: %w", name, f.NodeName(&f.Nodes[at]), err)
		}
		plan.norm[at], plan.layer[i] = i, at
		report.Into = append(report.Into, name)
	}
	return plan, report, nil
}

// foldable reports whether a node is a convolution or a dense layer with weights that the
// model stores, so that a batch norm can be folded into it.
func foldable(f *graph.Function, n *graph.Node) bool {
	switch n.Op {
	case graph.Conv, graph.ConvTranspose, graph.Dense:
		bias := operand(n, 2)
		if n.Op == graph.Dense && n.Int("leading") > 0 { // the channels come last
			return false
		}
		return f.Values[n.In[1]].State != "" && (bias == graph.None || f.Values[bias].State != "")
	}
	return false
}

// layerBefore returns the index of the layer that a batch norm can be folded into, or the
// reason why it cannot be folded. Nodes that keep each channel in place may be between
// layer and norm: for example, a graph has a 2-D convolution and a reshape for a 1-D
// convolution.
func layerBefore(f *graph.Function, norm *graph.Node, maker map[graph.Value]int, users [][]int) (index int,
	why string) {
	v := norm.In[0]
	read := 0 // largest number of readers of a value between the layer and the batch norm
	for {
		i, ok := maker[v]
		if !ok {
			return 0, noLayer
		}
		isOutput := slices.ContainsFunc(f.Outputs, func(o graph.Output) bool { return o.Value == v })
		if read = max(read, len(users[v])); isOutput {
			read = max(read, 2)
		}
		n := &f.Nodes[i]
		if keepsChannels(f, n) {
			v = n.In[0]
			continue
		}
		switch {
		case !foldable(f, n):
			return 0, noLayer
		case read > 1:
			return 0, fmt.Sprintf("what %s computes is read elsewhere too, or is an output", f.NodeName(n))
		}
		for _, w := range n.In[1:] {
			if w != graph.None && len(users[w]) > 1 {
				return 0, fmt.Sprintf("%s belongs to %s", f.Values[w].State, problem.Plural(len(users[w]), "layer"))
			}
		}
		return i, ""
	}
}

const noLayer = "no convolution or dense layer precedes it"

// keepsChannels reports whether a node only reshapes the positions of each channel.
func keepsChannels(f *graph.Function, n *graph.Node) bool {
	switch n.Op {
	case graph.Reshape:
		from, to := f.Values[n.In[0]].Type.Shape, f.Values[n.Out[0]].Type.Shape
		return len(from) > 1 && len(to) > 0 && from[0] == to[0]
	case graph.Transpose:
		perm := n.Ints("perm")
		return len(perm) > 0 && perm[0] == 0
	}
	return false
}

// checkFold rejects parameters that would make the folded weights invalid.
func checkFold(m *models.Model, norm *graph.Node) error {
	f := m.Graph.Main
	for _, v := range norm.In[1:] {
		name := f.Values[v].State
		t, ok := m.State[name]
		if !ok {
			return fmt.Errorf("a parameter is not part of the model's state")
		}
		for i, x := range t.F32() {
			if !tensor.IsFinite(x) || v == norm.In[4] && x < 0 {
				return problem.Advise("re-estimate the statistics first", "%s of channel %d is %g", name, i, x)
			}
		}
	}
	return nil
}

// operand returns operand i of a node, or graph.None if it is absent.
func operand(n *graph.Node, i int) graph.Value {
	if i >= len(n.In) {
		return graph.None
	}
	return n.In[i]
}
