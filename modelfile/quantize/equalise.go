package quantize

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// A byte of a feature map represents the same number in all channels, so a channel of small
// numbers has few steps. If a single layer, a convolution or a dense layer, reads the
// result of another one, channel c of that result may be divided by a factor. The factor is
// included in the scaling of the first layer's sums, and multiplied into the second layer's
// weights. The result is identical without an activation and with relu, and with relu6 up
// to the end of the channel's range. Nagel et al. 2019, arXiv 1906.04721, section 4.1, do
// this for weights. Here it is done for the feature maps between layers, because each
// output channel of a weight already has a separate scale.

// knowledge holds the known facts about the values of a function.
type knowledge struct {
	ranges   map[graph.Value]Range
	channels map[graph.Value][]moments // bounds are the ranges of the channels
	divisors map[graph.Value][]float64 // divisors of channels, set by equalise
}

// pair is a feature map between two layers, each a convolution or a dense layer.
type pair struct {
	made, value graph.Value // before and after an activation; equal without one
	bounds      Range       // bounds of the activation
	next        *graph.Node // the layer that reads it
}

// pairs returns the feature maps with channels that may be divided by factors.
func (p *prepared) pairs(float stays) (list []pair) {
	f := p.Graph.Main
	b := &builder{model: p.Model, stays: float, users: f.Users()}
	b.From = f
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if float.remains(f.NodeName(n)) || !b.takesProduct(n) {
			continue
		}
		v, bounds := n.Out[0], unbounded
		if at, ok := bounded(f, b.users, v); ok && !float.remains(f.NodeName(&f.Nodes[at])) {
			if act := activationOf(&f.Nodes[at]); act.bounds.Low == 0 {
				v, bounds = f.Nodes[at].Out[0], act.bounds
			}
		}
		isOutput := slices.ContainsFunc(f.Outputs, func(o graph.Output) bool { return o.Value == v })
		if len(b.users[v]) != 1 || isOutput {
			continue
		}
		next := &f.Nodes[b.users[v][0]]
		if b.takesProduct(next) && next.In[0] == v && !float.remains(f.NodeName(next)) {
			list = append(list, pair{n.Out[0], v, bounds, next})
		}
	}
	return list
}

// equalise returns a copy of known with divisors for the channels of feature maps, where
// they reduce the noise.
func (p *prepared) equalise(known knowledge, float stays) (knowledge, error) {
	known.divisors = map[graph.Value][]float64{}
	b := &builder{model: p.Model}
	b.From = p.Graph.Main
	for _, m := range p.pairs(float) {
		channels, before := known.channels[m.value], known.channels[m.made]
		if before == nil { // measured only after the activation
			before = channels
		}
		r, ok := known.ranges[m.value]
		if n := p.Graph.Main.Values[m.value].Type.Shape[0]; !ok || len(channels) != n || len(before) != n {
			continue
		}
		reach := make([]Range, len(before))
		for c := range reach {
			reach[c] = m.bounds.cut(before[c].bounds)
		}
		s, err := r.scaleOf()
		if err != nil {
			return knowledge{}, err
		}
		least := b.noise(m.next, s, nil, channels)
		for _, divisors := range fractions(r, reach) {
			if noise := b.noise(m.next, s, divisors, channels); noise < least {
				least, known.divisors[m.value] = noise, divisors
			}
		}
	}
	return known, nil
}

// fractions returns the candidate divisors of channels: powers of the part of the range
// that each channel fills.
func fractions(r Range, reach []Range) [][]float64 {
	const least = 1.0 / 1024
	whole := make([]float64, len(reach))
	for c, m := range reach {
		of := func(reach, all float64) float64 {
			if all == 0 {
				return 0
			}
			return reach / all
		}
		fraction := max(of(min(m.Low, 0), min(r.Low, 0)), of(max(m.High, 0), max(r.High, 0)))
		whole[c] = min(max(fraction, least), 1)
		if fraction == 0 { // a dead channel
			whole[c] = 1
		}
	}
	half := make([]float64, len(whole))
	quarter, most := slices.Clone(half), slices.Clone(half)
	for c, v := range whole {
		half[c] = math.Sqrt(v)
		quarter[c] = math.Sqrt(half[c])
		most[c] = half[c] * quarter[c]
	}
	return [][]float64{quarter, half, most, whole}
}
