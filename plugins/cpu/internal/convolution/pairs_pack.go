package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// pairsPack is the weights of a product, rounded to bfloat16 and packed in
// pairs. A batch norm that is folded does not change them.
type pairsPack struct {
	parts []pairsPart
	stamp uint64 // of the weight, when they were packed
}

// pairsPart is the weights of one window, as packPart is.
type pairsPart struct {
	pairs   *kernel.Pairs
	matrix  *kernel.Matrix // nil: there is none in this class and of this shape
	at      []int
	order   kernel.PairsOrder // the same
	step    int
	in, out int
	data    []uint16
}

// byPairs reports whether products with runs of so many values are computed by
// pairs: a function of shape, precision and kernel class.
func byPairs(c *run.Compiler, run int) bool {
	return c.Reduced && c.Kernels.Class != kernel.Generic.Class && run > 0 && run%2 == 0
}

// tilesOf returns the tiles with which a convolution is computed, and whether
// there are any. At precision bf16 these must be large and fill the image: else
// pairs are faster, as matrix units always are.
func tilesOf(c *run.Compiler, g *Geometry) (kernel.Winograd, bool) {
	t, ok := g.byTiles(c.Kernels)
	if byMatrix(c, g, g.cg, g.og) {
		return t, false
	}
	const large = 4
	whole := t.Side == large && g.h%large == 0 && g.w%large == 0
	return t, ok && (whole || !byPairs(c, g.cg))
}

// Bytes returns the memory of the packed weights.
func (p *pairsPack) Bytes() (n int64) {
	for _, part := range p.parts {
		n += int64(2 * len(part.data))
	}
	return n
}

// pairsFor returns the pairs of a weight for windows that are given as parts,
// which matrix units compute or not.
func pairsFor(c *run.Compiler, t *filter, key string, parts func() []packPart, matrix bool) *pairsPack {
	return shared(c, plain(t.weight), "pairs "+key, func() *pairsPack {
		p, of := &pairsPack{}, map[*kernel.Window]*kernel.Pairs{}
		for _, part := range parts() {
			if of[part.window] == nil {
				of[part.window] = kernel.NewPairs(part.window)
			}
			q := pairsPart{pairs: of[part.window], at: part.at, order: kernel.NewPairsOrder(of[part.window], part.at),
				step: part.step, in: part.in, out: part.out}
			length := part.window.PackedLen()
			if matrix {
				q.matrix = kernel.NewMatrix(part.window, 1)
				length = q.matrix.PackedLen()
			}
			q.data = run.Take[uint16](&c.Reserve, length)
			p.parts = append(p.parts, q)
		}
		return p
	})
}

// fill packs the weights unless that has been done since they changed.
func (p *pairsPack) fill(f *run.Frame, weight *run.Value) {
	if weight.State != nil && p.stamp == weight.State.Stamp {
		return
	}
	for i := range p.parts {
		part := &p.parts[i]
		f.Each(part.pairs.Panels(), func(w *run.Worker, panel int) {
			kernels, src := f.Kernels, f.F32(weight)
			if part.matrix != nil {
				kernels.PackMatrix(part.matrix, panel, part.data, src, part.at, part.step, kernel.Factor{})
			} else {
				kernels.PackPairs(part.pairs, panel, part.data, src, part.order, part.step, w.Floats(part.order.Spare()))
			}
		})
	}
	if weight.State != nil {
		p.stamp = weight.State.Stamp
		weight.Rest()
	}
}
