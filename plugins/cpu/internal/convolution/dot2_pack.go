package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// dot2Pack is the weights of a product, rounded to bfloat16 and packed in pairs. A folded
// batch norm does not change them.
type dot2Pack struct {
	sections []dot2Section
	stamp    uint64 // stamp of the weight when it was packed
}

// dot2Section has the weights of one window, like packSection.
type dot2Section struct {
	pairs   *kernel.Pairs
	matrix  *kernel.Matrix // nil if the kernel class computes this shape without matrix units
	offsets []int
	order   kernel.PairsOrder // offsets as an order
	step    int
	in, out int
	data    []uint16
}

// Bytes returns the memory of the packed weights.
func (p *dot2Pack) Bytes() (n int64) {
	for _, section := range p.sections {
		n += int64(2 * len(section.data))
	}
	return n
}

// dot2For returns the weights of a filter, packed in pairs for the windows of these sections, with or
// without matrix units.
func dot2For(c *plan.Compiler, t *filter, key string, sections func() []packSection, matrix bool) *dot2Pack {
	return shared(c, plain(t.weight), "pairs "+key, func() *dot2Pack {
		p, of := &dot2Pack{}, map[*kernel.Window]*kernel.Pairs{}
		for _, section := range sections() {
			if of[section.window] == nil {
				of[section.window] = kernel.NewPairs(section.window)
			}
			pairs := of[section.window]
			q := dot2Section{pairs: pairs, offsets: section.offsets, order: kernel.NewPairsOrder(pairs,
				section.offsets),
				step: section.step, in: section.in, out: section.out}
			length := section.window.PackedLen()
			if matrix {
				q.matrix = kernel.NewMatrix(section.window, 1)
				length = q.matrix.PackedLen()
			}
			q.data = plan.ReservePacked[uint16](c, length)
			p.sections = append(p.sections, q)
		}
		return p
	})
}

// fill packs the weights unless that has been done since they changed.
func (p *dot2Pack) fill(f *run.Frame, weight *run.Value) {
	if weight.State() != nil && p.stamp == weight.State().Stamp() {
		return
	}
	for i := range p.sections {
		section := &p.sections[i]
		f.Each(section.pairs.Panels(), func(w *run.Worker, panel int) {
			kernels, src := f.Kernels, f.F32(weight)
			if section.matrix != nil {
				kernels.PackMatrix(section.matrix, panel, section.data, src, section.offsets, section.step,
					kernel.Factor{})
			} else {
				kernels.PackPairs(section.pairs, panel, section.data, src, section.order, section.step,
					w.Floats(section.order.Spare()))
			}
		})
	}
	if weight.State() != nil {
		p.stamp = weight.State().Stamp()
		weight.State().Rest()
	}
}
