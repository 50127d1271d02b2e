package formats

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Folded is what Fold did, by the names of the batch norms.
type Folded struct {
	Into []string // folded into the layer before them
	Kept []string // left as they are: no convolution or dense layer is before them
}

// Fold returns a copy of m whose batch norms are part of the convolution,
// transposed convolution or dense layer before them: weight*s and
// (bias-mean)*s+beta, s = gamma/sqrt(variance+eps) per channel, computed in
// float64. It is an error if something else reads the layer's result or its
// weight, or if statistics are not finite.
//
// FoldProven also measures how much m and the result differ by rounding.
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

// foldPlan pairs layers with the batch norms that they take in, as indices of nodes.
type foldPlan struct {
	norm  map[int]int // by layer
	layer map[int]int // by batch norm
}

// planFold finds what can be folded, and refuses what must not be.
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
		at, ok := maker[n.In[0]]
		if !ok || !foldable(f, &f.Nodes[at]) {
			report.Kept = append(report.Kept, name)
			continue
		}
		if err := checkFold(m, n, &f.Nodes[at], users); err != nil {
			return plan, report, fmt.Errorf("folding %s into %s: %w", name, f.NodeName(&f.Nodes[at]), err)
		}
		plan.norm[at], plan.layer[i] = i, at
		report.Into = append(report.Into, name)
	}
	return plan, report, nil
}

// foldable reports whether a node is a product with weights of the state.
func foldable(f *graph.Function, n *graph.Node) bool {
	switch n.Op {
	case graph.Conv, graph.ConvTranspose, graph.Dense:
		bias := operand(n, 2)
		return f.Values[n.In[1]].State != "" && (bias == graph.None || f.Values[bias].State != "")
	}
	return false
}

// checkFold refuses a fold that would change what something else computes.
func checkFold(m *models.Model, norm, layer *graph.Node, users [][]int) error {
	f := m.Graph.Main
	isOutput := slices.ContainsFunc(f.Outputs, func(o graph.Output) bool { return o.Value == norm.In[0] })
	if n := len(users[norm.In[0]]); n > 1 || isOutput {
		return fmt.Errorf("the layer's result is read in %s, or is an output", problem.Counted(n, "place"))
	}
	for _, v := range layer.In[1:] {
		if v != graph.None && len(users[v]) > 1 {
			return fmt.Errorf("%s belongs to %s", f.Values[v].State,
				problem.Counted(len(users[v]), "layer"))
		}
	}
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

// operand returns operand i of a node, None if it is absent.
func operand(n *graph.Node, i int) graph.Value {
	if i >= len(n.In) {
		return graph.None
	}
	return n.In[i]
}
