package bn

import (
	"fmt"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/tensor"
)

// Precise re-estimates running statistics over many batches by exact merging,
// with no decay: the population statistics of all that was added.
type Precise struct {
	layers []Layer
	total  [][]float64 // for each layer: n, means, Q
}

// NewPrecise returns an empty estimate.
func NewPrecise(layers []Layer) *Precise {
	p := &Precise{layers: layers}
	for _, l := range layers {
		p.total = append(p.total, make([]float64, 1+2*l.Channels))
	}
	return p
}

// Add merges the moments of one batch, checked with Check: the replicas along the canonical tree,
// then the result with the batches before it.
func (p *Precise) Add(moments []tensor.Tensor) {
	for i := range p.layers {
		collective.Merge(p.total[i], p.total[i], Pool(moments[i], 1))
	}
}

// Tensors returns the statistics by the names of the state. The error names a
// layer that saw fewer than two values, or is a *NonFinite if float32 does not
// hold one of them.
func (p *Precise) Tensors() (map[string]tensor.Tensor, error) {
	out := make(map[string]tensor.Tensor, 2*len(p.layers))
	for i, l := range p.layers {
		mean, variance := l.split(p.total[i])
		if mean == nil {
			return nil, fmt.Errorf("bn: layer %s: %g values are too few to estimate a variance", l.Name, p.total[i][0])
		}
		var bad *NonFinite
		if out[l.Mean], out[l.Variance], bad = l.rounded(mean, variance); bad != nil {
			return nil, bad
		}
	}
	return out, nil
}
