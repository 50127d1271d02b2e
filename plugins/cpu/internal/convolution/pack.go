package convolution

import (
	"fmt"

	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Packed weights outlive a run. They are packed again when the stamp of a state tensor that they depend on
// has changed. In the last run of a program heavy weights need not be kept. The layers then pack them in
// the same memory, one layer after the other (lend, pass).

// pack has weights in the order that kernels read. They are packed again when the original weights have
// changed.
type pack struct {
	sections []packSection
	stamp    uint64      // stamp of the filter when it was packed
	memory   [][]float32 // original memory of the sections while they use lent memory; otherwise nil
}

// packSection has the weights of one window.
type packSection struct {
	window    *kernel.Window
	offsets   []int        // for each tap and value, the offset of its weight for the first output channel
	order     kernel.Order // offsets as an order
	step      int          // distance in values between the weights of two output channels
	in, out   int          // first channel of the section, in the input and in the output
	data      []float32
	untrimmed []bool // for each panel, if the window Trims taps: its weights do not allow it (Trimmable)
}

// shared returns the value that is stored for a filter under this key. If there is none, it calls build.
func shared[P arena.Packed](c *plan.Compiler, t *filter, key string, build func() P) P {
	w := t.weight
	if w.State() == nil {
		p := build()
		c.SetPacked(fmt.Sprintf("%s of %s in %s", key, w.Name, c.Function()), p)
		return p
	}
	key = fmt.Sprintf("%s of @%s%s", key, w.Name, t.key())
	if p, ok := c.Packed(key).(P); ok {
		return p
	}
	p := build()
	c.SetPacked(key, p)
	return p
}

// packFor returns the pack that is stored for a filter under this key. If there is none, it makes one.
func packFor(c *plan.Compiler, t *filter, key string, sections func() []packSection) *pack {
	return shared(c, t, key, func() *pack {
		p := &pack{sections: sections()}
		for i := range p.sections {
			section := &p.sections[i]
			section.order = kernel.NewOrder(section.offsets)
			section.data = plan.ReservePacked[float32](c, section.window.PackedLen())
			section.untrimmed = make([]bool, section.window.Panels())
		}
		return p
	})
}

// Bytes returns the memory of the packed weights.
func (p *pack) Bytes() (n int64) {
	for _, section := range p.sections {
		n += int64(4 * len(section.data))
	}
	return n
}

// fill packs the weights if they have changed since they were packed. In the last run, the weights of a
// node that runs alone are packed in lent memory, and pass discards them.
func (p *pack) fill(f *run.Frame, t *filter, alone bool) {
	stamp := t.stamp()
	if stamp > 0 && p.stamp == stamp {
		return
	}
	if alone && f.Last {
		p.lend(f)
		stamp = 0
	}
	for i := range p.sections {
		section := &p.sections[i]
		f.Each(section.window.Panels(), func(_ *run.Worker, panel int) { section.fill(f, t, panel) })
	}
	p.stamp = stamp
	t.weight.State().Rest()
}

// lend gives the sections memory that is shared by all layers. It is valid until pass is called.
func (p *pack) lend(f *run.Frame) {
	workspace := f.Passing(int(p.Bytes() / 4))
	for i := range p.sections {
		section := &p.sections[i]
		n := len(section.data)
		p.memory = append(p.memory, section.data)
		section.data, workspace = workspace[:n:n], workspace[n:]
	}
}

// pass undoes lend: the sections get back the memory that they had before.
func (p *pack) pass() {
	for i, data := range p.memory {
		p.sections[i].data = data
	}
	p.memory = nil
}

// fill packs one panel.
func (p *packSection) fill(f *run.Frame, t *filter, panel int) {
	kernels, factor := f.Kernels, t.factor(f).From(p.out)
	kernels.Pack(p.window, panel, p.data, f.F32(t.weight), p.order, p.step, factor)
	p.untrimmed[panel] = p.window.Trims() && !kernels.Trimmable(p.window, panel, p.data)
}
