package formats

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Proof describes the result of folding and the rounding differences that it caused.
type Proof struct {
	Folded        []string `json:"folded"`         // batch norms, by name
	Unfolded      []string `json:"kept"`           // batch norms that cannot be folded
	Why           []string `json:"kept_because"`   // the reason for each of Unfolded
	MaxDifference float64  `json:"max_difference"` // difference of the outputs for equal random inputs
	LargestOutput float64  `json:"largest_output"` // largest absolute value of these outputs
}

// Relative returns the largest difference in units of the largest output.
func (p *Proof) Relative() float64 {
	if p.LargestOutput == 0 {
		return p.MaxDifference
	}
	return p.MaxDifference / p.LargestOutput
}

// NotFolded returns the proof of a model without folded batch norms.
func NotFolded() Proof { return Proof{Folded: []string{}, Unfolded: []string{}, Why: []string{}} }

const (
	foldInputs = 4    // samples that both models are run on
	foldMost   = 1e-3 // largest difference that counts as rounding, relative to the largest output
)

// FoldProven is like Fold, and also compares the result with m. It calls run for both models, with
// the same random samples. run returns the outputs of a model at full precision. FoldProven returns
// an error if the outputs differ by more than rounding.
func FoldProven(m *models.Model, run func(*models.Model, tensor.Tensor) ([]tensor.Tensor, error)) (
	*models.Model, Proof, error) {
	p := NotFolded()
	f, did, err := Fold(m)
	if err != nil {
		return nil, p, err
	}
	p.Folded, p.Unfolded = append(p.Folded, did.Into...), append(p.Unfolded, did.Unfolded...)
	p.Why = append(p.Why, did.Why...)
	x, err := models.RandomInput(m, foldInputs)
	if err != nil {
		return nil, p, err
	}
	norms, err := unfolded(m)
	if err != nil {
		return nil, p, err
	}
	want, err := run(norms, x)
	if err != nil {
		return nil, p, err
	}
	got, err := run(f, x)
	if err != nil {
		return nil, p, err
	}
	for i := range want {
		p.LargestOutput = max(p.LargestOutput, p.compare(got[i].F32(), want[i].F32()))
	}
	// The condition is negated because a NaN difference must be refused too.
	if largest := p.LargestOutput; !(p.MaxDifference <= foldMost*max(1, largest)) {
		return nil, p, problem.Advise("export without folding",
			"folding changes outputs of up to %.3g by up to %.3g: more than rounding does", largest,
			p.MaxDifference)
	}
	return f, p, nil
}

// unfolded returns a copy of m in which a device cannot fold the batch norms. A device may
// fold a batch norm if all its parameters are tensors that the model stores. In the copy,
// gamma is therefore computed, as 1*gamma+0.
func unfolded(m *models.Model) (*models.Model, error) {
	f, out := m.Graph.Main, *m
	table := slices.Clone(m.Graph.State)
	c := graph.NewCopier(f, graph.NewBuilder(f.Name, &table))
	c.Inputs()
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op == graph.BatchNorm {
			gamma := n.In[1]
			name := c.Builder.UniqueName(f.NodeName(n) + ".gamma")
			c.To[gamma] = c.Builder.Op(graph.Affine, name, []graph.Value{c.Value(gamma)})
		}
		c.Copy(n)
	}
	c.Outputs()
	main, err := c.Builder.Function()
	out.Graph = &graph.Graph{Name: m.Graph.Name, State: table, Main: main}
	return &out, err
}

// compare compares an output of both models and updates the largest difference in p. It
// returns the largest absolute value in want.
func (p *Proof) compare(got, want []float32) float64 {
	largest := 0.0
	for i, w := range want {
		d := math.Abs(float64(got[i]) - float64(w))
		if d > p.MaxDifference || d != d {
			p.MaxDifference = d
		}
		largest = max(largest, math.Abs(float64(w)))
	}
	return largest
}
