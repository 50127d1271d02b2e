package quantize

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// deviations is how many of its deviations a channel reaches from its mean, without data: maps have longer
// tails than a normal distribution. By 6, as Nagel et al. have it, resnet56 loses 1.3 points of
// CIFAR-10; by 10, 0.2.
const deviations = 10

// byNorms builds the template with the ranges that batch norms give.
func (p *prepared) byNorms() (*built, error) {
	if len(p.stats.norms) == 0 {
		return nil, problem.Advise("give samples with {data}",
			"the model has no batch norms, or they are folded: nothing says in which range its maps lie")
	}
	known := p.knownByNorms()
	b, err := p.buildEqual(known, p.stays)
	if err != nil {
		return nil, err
	}
	if ends := p.noisyEnds(b); len(ends) > 0 {
		float := p.stays
		for _, name := range ends {
			float = float.and(name, "half of the noise that is expected is its")
		}
		if b, err = p.buildEqual(known, float); err != nil {
			return nil, err
		}
	}
	for i := range b.layers {
		if b.layers[i].Range != nil {
			b.layers[i].From = p.stats.from[b.layers[i].value]
		}
	}
	return b, nil
}

// buildEqual builds the template with channels equalised.
func (p *prepared) buildEqual(known knowledge, float stays) (*built, error) {
	known, err := p.equalise(known, float)
	if err != nil {
		return nil, err
	}
	return build(p.Model, known, float)
}

// knownByNorms returns what batch norms say.
func (p *prepared) knownByNorms() knowledge {
	known := knowledge{ranges: map[graph.Value]Range{}, channels: map[graph.Value][]moments{}}
	for v, list := range p.stats.of {
		known.ranges[v] = p.stats.rangeOf(v, deviations)
		for _, c := range list {
			c.bounds = c.within(deviations)
			known.channels[v] = append(known.channels[v], c)
		}
	}
	return known
}
