package models

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// LineKernels returns the names of the tensors that are kernels of 1-D convolutions. A
// graph has them as [O,I,1,K], other programs as [O,I,K]. The result contains every
// convolution that reads [C,L] as [C,1,L].
func LineKernels(g *graph.Graph) map[string]bool {
	f := g.Main
	makers, lines := f.Makers(), map[string]bool{}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op != graph.Conv && n.Op != graph.ConvTranspose {
			continue
		}
		from := makers[n.In[0]]
		if from == nil || from.Op != graph.Reshape {
			continue
		}
		before, to := f.Values[from.In[0]].Type.Shape, f.Values[n.In[0]].Type.Shape
		kernel := f.Values[n.In[1]]
		if len(before) == 2 && slices.Equal(to, []int{before[0], 1, before[1]}) && kernel.State != "" &&
			kernel.Type.Shape[2] == 1 {
			lines[kernel.State] = true
		}
	}
	return lines
}
