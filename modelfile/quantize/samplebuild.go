package quantize

import (
	"context"
	"math"

	"github.com/bnctl/bnctl/graph"
)

// bySamples builds the template with measured ranges. method "" selects the method that
// changes the model's outputs least. Channels are equalised if that reduces the loss.
func (p *prepared) bySamples(ctx context.Context, s *samples, method string) (best *built, chosen string,
	err error) {
	all, err := p.measure(ctx, s, p.measuredValues())
	if err != nil {
		return nil, "", err
	}
	ways := methods()
	if method != "" {
		ways = []string{method}
	}
	known := make([]knowledge, len(ways))
	plain := make([]*built, len(ways))
	for i, m := range ways {
		known[i] = p.knownBy(all, m)
		if plain[i], err = build(p.Model, known[i], p.stays); err != nil {
			return nil, "", err
		}
	}
	losses, err := p.losses(ctx, s, plain)
	if err != nil {
		return nil, "", err
	}
	least := leastOf(losses)
	if best, err = p.better(ctx, s, known[least], plain[least]); err != nil {
		return nil, "", err
	}
	for i := range best.layers {
		if best.layers[i].Range != nil {
			best.layers[i].From = ways[least]
		}
	}
	return best, ways[least], p.compare(ctx, s, best)
}

// leastOf returns the index of the least number.
func leastOf(list []float64) (index int) {
	least := math.Inf(1)
	for i, v := range list {
		if v < least {
			index, least = i, v
		}
	}
	return index
}

// knownBy returns the ranges of a method and the moments, as measured on samples.
func (p *prepared) knownBy(histograms map[graph.Value]*histogram, method string) knowledge {
	k := knowledge{ranges: map[graph.Value]Range{}, channels: map[graph.Value][]moments{}}
	for v, h := range histograms {
		k.ranges[v], k.channels[v] = h.rangeBy(method), h.moments()
	}
	p.spread(&k)
	return k
}

// better returns plain, with channels equalised if that reduces the loss, and with the
// first or last layer in float32 if that at least halves the loss.
func (p *prepared) better(ctx context.Context, s *samples, known knowledge, plain *built) (*built, error) {
	equal, err := p.equalise(known, p.stays)
	if err != nil {
		return nil, err
	}
	one, err := build(p.Model, equal, p.stays)
	if err != nil {
		return nil, err
	}
	tried, ends := []*built{plain, one}, p.ends(plain)
	for _, name := range ends {
		b, err := build(p.Model, known, p.stays.and([]string{name}, "tried"))
		if err != nil {
			return nil, err
		}
		tried = append(tried, b)
	}
	losses, err := p.losses(ctx, s, tried)
	if err != nil {
		return nil, err
	}
	float := p.stays
	for i, name := range ends {
		if losses[0] > matters && losses[2+i] <= losses[0]/2 {
			float = float.and([]string{name}, "half of the noise of the outputs was its")
		}
	}
	if losses[1] < losses[0] {
		if known, err = p.equalise(known, float); err != nil {
			return nil, err
		}
	}
	return build(p.Model, known, float)
}

// spread copies the range and the channels of an operand to the result of a node that only
// moves numbers.
func (p *prepared) spread(k *knowledge) {
	f := p.Graph.Main
	for i := range f.Nodes {
		n := &f.Nodes[i]
		r, ok := k.ranges[n.In[0]]
		if n.Op == graph.Pad && n.Float("value") != 0 {
			r = r.union(Range{n.Float("value"), n.Float("value")})
		}
		if ok && onlyMoves(n.Op) {
			k.ranges[n.Out[0]] = r
		}
		if m := k.channels[n.In[0]]; n.Op == graph.Reshape && m != nil {
			k.channels[n.Out[0]] = repeated(m, f.Values[n.In[0]].Type.Shape, f.Values[n.Out[0]].Type.Shape)
		}
	}
}
