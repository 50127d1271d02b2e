package cpu

import (
	"fmt"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// pack is a matrix of weights in the order in which kernels read it. It is
// made again when the weights have changed.
type pack struct {
	parts []packPart
	stamp uint64 // of the filter, when they were packed
}

// packPart is the weights of one window.
type packPart struct {
	window  *kernel.Window
	at      []int        // where the weights of (tap, value) begin
	order   kernel.Order // the same
	step    int          // values between output channels
	in, out int          // its first channels, of the input and of the output
	data    []float32
}

// shared returns what was made for a filter under this key, or makes it.
func shared[P packed](c *compiler, t *filter, key string, build func() P) P {
	w := t.weight
	if w.state != nil {
		key = fmt.Sprintf("%s of @%s%s", key, w.name, t.key())
		if p, ok := c.packs[key]; ok {
			return p.(P)
		}
	} else {
		key = fmt.Sprintf("%s of %s in %s", key, w.name, c.fn.Name)
	}
	p := build()
	c.packs[key] = p
	return p
}

// packFor returns the pack of a filter with this key.
func (c *compiler) packFor(t *filter, key string, parts func() []packPart) *pack {
	return shared(c, t, key, func() *pack {
		p := &pack{parts: parts()}
		for i := range p.parts {
			part := &p.parts[i]
			part.order = kernel.NewOrder(part.at)
			part.data = take[float32](&c.reserve, part.window.PackedLen())
		}
		return p
	})
}

// bytes returns the memory of the packed weights.
func (p *pack) bytes() (n int64) {
	for _, part := range p.parts {
		n += int64(4 * len(part.data))
	}
	return n
}

// fill packs the weights unless that has been done since they changed.
func (p *pack) fill(f *frame, t *filter) {
	stamp := t.stamp()
	if stamp > 0 && p.stamp == stamp {
		return
	}
	for i := range p.parts {
		part := &p.parts[i]
		f.each(part.window.Panels(), func(_ *worker, panel int) { part.fill(f, t, panel) })
	}
	p.stamp = stamp
	t.weight.rest()
}

// fill packs one panel.
func (p *packPart) fill(f *frame, t *filter, panel int) {
	kernels, factor := f.kernels, t.factor(f).From(p.out)
	kernels.Pack(p.window, panel, p.data, f.f32(t.weight), p.order, p.step, factor)
}
