package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// dot2Pack is the weights of a product, rounded to bfloat16 and packed in
// pairs. A batch norm that is folded does not change them.
type dot2Pack struct {
	parts []dot2Part
	stamp uint64 // of the weight, when they were packed
}

// dot2Part is the weights of one window, as packPart is.
type dot2Part struct {
	pairs   *kernel.Pairs
	matrix  *kernel.Matrix // nil: there is none in this class and of this shape
	at      []int
	order   kernel.PairsOrder // the same
	step    int
	in, out int
	data    []uint16
}

// Bytes returns the memory of the packed weights.
func (p *dot2Pack) Bytes() (n int64) {
	for _, part := range p.parts {
		n += int64(2 * len(part.data))
	}
	return n
}

// dot2For returns the pairs of a weight for windows that are given as parts,
// which matrix units compute or not.
func dot2For(c *plan.Compiler, t *filter, key string, parts func() []packPart, matrix bool) *dot2Pack {
	return shared(c, plain(t.weight), "pairs "+key, func() *dot2Pack {
		p, of := &dot2Pack{}, map[*kernel.Window]*kernel.Pairs{}
		for _, part := range parts() {
			if of[part.window] == nil {
				of[part.window] = kernel.NewPairs(part.window)
			}
			q := dot2Part{pairs: of[part.window], at: part.at, order: kernel.NewPairsOrder(of[part.window], part.at),
				step: part.step, in: part.in, out: part.out}
			length := part.window.PackedLen()
			if matrix {
				q.matrix = kernel.NewMatrix(part.window, 1)
				length = q.matrix.PackedLen()
			}
			q.data = plan.ReservePacked[uint16](c, length)
			p.parts = append(p.parts, q)
		}
		return p
	})
}

// fill packs the weights unless that has been done since they changed.
func (p *dot2Pack) fill(f *run.Frame, weight *run.Value) {
	if weight.IsState() && p.stamp == weight.Stamp() {
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
	if weight.IsState() {
		p.stamp = weight.Stamp()
		weight.Rest()
	}
}
