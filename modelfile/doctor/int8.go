package doctor

import (
	"fmt"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// fewSteps is the least number of steps, out of 127, that the largest weight of a channel should
// have.
const fewSteps = 16

// bytes adds findings about the layers of a model that compute in bytes: channels with weights that
// are all 0, and channels with weights that use few steps. Both are warnings: the model computes
// what its file has.
func (p *Report) bytes(m *models.Model) {
	f := m.Graph.Main
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op != graph.ConvInt8 && n.Op != graph.DenseInt8 {
			continue
		}
		weight := m.State[f.Values[n.In[1]].State]
		if weight.DType != tensor.I8 || len(weight.Shape) == 0 {
			continue
		}
		p.weightSteps(f.NodeName(n), weight)
	}
}

// weightSteps examines the weight of a layer, with the output channels first.
func (p *Report) weightSteps(layer string, weight tensor.Tensor) {
	largest := largestSteps(weight)
	var dead, few []int
	for o, n := range largest {
		switch {
		case n == 0:
			dead = append(dead, o)
		case n < fewSteps:
			few = append(few, o)
		}
	}
	if len(dead) > 0 {
		p.otherFindings = append(p.otherFindings, bn.Finding{Layer: layer, Channels: dead, Severity: bn.Warning,
			Problem: fmt.Sprintf("%d of %s dead: all weights are 0 steps, and results constant", len(dead),
				problem.Plural(len(largest), "channel")),
			Advice: "quantise with a scale for each channel, if the float model has weights there"})
	}
	if len(few) > 0 {
		p.otherFindings = append(p.otherFindings, bn.Finding{Layer: layer, Channels: few, Severity: bn.Warning,
			Problem: fmt.Sprintf("the weights of %d of %s use fewer than %d of 127 steps", len(few),
				problem.Plural(len(largest), "channel"), fewSteps),
			Advice: "quantise with a scale for each channel"})
	}
}

// largestSteps returns the largest magnitude of each output channel of a weight.
func largestSteps(weight tensor.Tensor) []int {
	largest := make([]int, weight.Shape[0])
	per := weight.Count() / max(1, len(largest))
	for o := range largest {
		for _, q := range tensor.View[int8](weight)[o*per : (o+1)*per] {
			largest[o] = max(largest[o], max(int(q), -int(q)))
		}
	}
	return largest
}
