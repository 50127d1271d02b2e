package quantize

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Layer describes the result for one layer.
type Layer struct {
	Name      string `json:"name"`
	Float     bool   `json:"float32,omitempty"` // the layer stays float32
	Why       string `json:"why,omitempty"`     // reason for Float
	Bytes     int    `json:"bytes"`             // bytes of its weights
	Before    int    `json:"bytes_before"`
	Products  int    `json:"products"`            // products of two numbers, for one sample
	Range     *Range `json:"range,omitempty"`     // range of its result; nil: float32
	From      string `json:"from,omitempty"`      // source of the range
	Equalised bool   `json:"equalised,omitempty"` // the channels of its result have separate ranges
	// WeightNoise, Expected and Noise are signal-to-noise ratios in decibels. WeightNoise
	// is the ratio of the weights. Expected is the ratio of the result that follows from
	// rounding operand and weights, computed from the known moments of the operand; 0 if
	// these are unknown. Noise is the ratio of the result with all rounding up to this
	// layer, measured on samples; 0 without samples.
	WeightNoise float64 `json:"weight_snr_db,omitempty"`
	Expected    float64 `json:"expected_snr_db,omitempty"`
	Noise       float64 `json:"snr_db,omitempty"`

	value    graph.Value
	expected float64 // noise to signal, the ratio of Expected
}

// layerOf returns the description of a layer, with the size of its weights in bytes before
// quantisation, and the number of products that it computes.
func (b *builder) layerOf(n *graph.Node) Layer {
	l := Layer{Name: b.From.NodeName(n)}
	w, y := b.From.Values[n.In[1]].Type, b.From.Values[n.Out[0]].Type.Shape
	l.Before = w.DType.Size() * tensor.Count(w.Shape)
	if bias := (&statistics{model: b.model}).bias(b.From, n); bias != nil {
		l.Before += 4 * len(bias)
	}
	l.Products = tensor.Count(y) * tensor.Count(w.Shape[1:])
	return l
}

// unknownRange is the reason if lacksRange is true for a layer.
const unknownRange = "without samples the range of its operand or result is unknown"

// whyFloat returns the reason why a convolution or dense layer stays float32.
func (b *builder) whyFloat(n *graph.Node) string {
	name := b.From.NodeName(n)
	shape := b.From.Values[n.In[1]].Type.Shape
	switch {
	case b.remains(name):
		return b.stays[name]
	case b.From.Values[n.In[1]].State == "":
		return "its weights are computed"
	case n.Op == graph.Dense && n.Int("leading") > 0:
		return "it has several rows to a sample"
	case b.lacksRange(n):
		return unknownRange
	}
	return fmt.Sprintf("its sums have %d products, more than %d could leave 32 bits", tensor.Count(shape[1:]),
		graph.MostTerms)
}

// span and from return the range and its source, for people.
func (l *Layer) span() string {
	if l.Range == nil {
		return "float32"
	}
	return fmt.Sprintf("%.4g to %.4g", l.Range.Low, l.Range.High)
}

func (l *Layer) from() string {
	if l.Equalised {
		return l.From + ", equalised"
	}
	return l.From
}
