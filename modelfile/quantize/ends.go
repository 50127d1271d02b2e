package quantize

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
)

// The first and the last layer usually lose most accuracy. They stay float32 if that halves the
// noise, and the noise matters. The last layers of a detector, which are small, always stay
// float32: offsets, logarithms of sides and logits would share one range, and one step of that
// range would change a side by a sixth.

// matters is the noise-to-signal ratio above which a layer may stay float32.
const matters = 0.01

// ends returns the names of the first and the last layer, if they compute in bytes and other layers
// do so, too.
func (p *prepared) ends(b *built) (names []string) {
	of := 0
	for _, l := range b.layers {
		if !l.Float {
			of++
		}
	}
	for _, i := range []int{0, len(b.layers) - 1} {
		if l := b.layers[i]; !l.Float && of > 2 {
			names = append(names, l.Name)
		}
	}
	return names
}

// detectorEnds adds the last layers of a detector to stays.
func detectorEnds(m *models.Model, s stays) stays {
	if _, detects := m.DetectedClasses(); !detects {
		return s
	}
	return s.and(lastLayers(m.Graph.Main), "a last layer of a detector: offsets and logits would share a range")
}

// lastLayers returns the names of the convolutions and dense layers that are the last ones on some
// path to an output of f.
func lastLayers(f *graph.Function) (names []string) {
	makers, seen := f.Makers(), map[graph.Value]bool{}
	var visit func(v graph.Value)
	visit = func(v graph.Value) {
		n := makers[v]
		if n == nil || seen[v] {
			return
		}
		seen[v] = true
		if n.Op == graph.Conv || n.Op == graph.Dense {
			names = append(names, f.NodeName(n))
			return
		}
		for _, in := range n.In {
			visit(in)
		}
	}
	for _, o := range f.Outputs {
		visit(o.Value)
	}
	return names
}

// noisyEnds returns the first or the last layer if that layer alone is expected to cause
// more than half of the noise. The expectation counts only the noise that each layer's own
// rounding makes.
func (p *prepared) noisyEnds(b *built) (names []string) {
	all, of := 0.0, map[string]float64{}
	for _, l := range b.layers {
		all += l.expected
		of[l.Name] = l.expected
	}
	for _, name := range p.ends(b) {
		if of[name] > all/2 && of[name] > matters {
			names = append(names, name)
		}
	}
	return names
}
