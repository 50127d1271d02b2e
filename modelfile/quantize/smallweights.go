package quantize

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// SmallWeight is the weight tensor of a layer with numbers that are much smaller than those
// of other layers.
type SmallWeight struct {
	Name   string
	Factor float64 // its size as a fraction of the median layer's, as a power of 2
}

// muchSmaller is the fraction of the median below which a layer's weight is small. The weights of
// trained networks with normalised pixels are above it.
const muchSmaller = 1.0 / 16

// SmallWeights returns the small weights among those that m trains for int8, in the order of the
// layers. In such a model batch norms are part of their layers. A layer that reads pixels from 0 to
// 255 then has such small weights that one step at the learning rate of all other layers would
// replace them.
func SmallWeights(m *models.Model) (small []SmallWeight) {
	f := m.Graph.Main
	var names []string
	var sizes []float64
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Op == graph.QuantizeWeight {
			name := f.Values[n.In[0]].State
			names, sizes = append(names, name), append(sizes, rootMeanSquare(m.State[name]))
		}
	}
	if len(sizes) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(sizes))
	median := sorted[len(sorted)/2]
	for i, name := range names {
		if sizes[i] > 0 && sizes[i] < muchSmaller*median {
			small = append(small, SmallWeight{name, math.Exp2(math.Round(math.Log2(sizes[i] / median)))})
		}
	}
	return small
}

func rootMeanSquare(t tensor.Tensor) float64 {
	sum := 0.0
	for _, v := range t.F32() {
		sum += float64(float64(v) * float64(v))
	}
	return math.Sqrt(sum / float64(max(1, t.Count())))
}
