package cpu

import (
	"fmt"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// pack is a matrix of weights in the order in which kernels read it. It is
// made again when the weights have changed.
type pack struct {
	parts []packPart
	stamp uint64
	of    *state // nil: the weights are computed, so they are packed in every run
}

// packPart is the weights of one window.
type packPart struct {
	window *kernel.Window
	at     []int // where the weights of (tap, value) begin
	step   int   // values between output channels
	data   []float32
}

// packed is weights in some order, made for one weight and shared by the nodes
// that want them so.
type packed interface {
	bytes() int64
}

// shared returns what was made for a weight under this key, or makes it.
func shared[P packed](c *compiler, w *value, key string, build func() P) P {
	if w.state != nil {
		key = fmt.Sprintf("%s of @%s", key, w.name)
		if p, ok := c.exe.packs[key]; ok {
			return p.(P)
		}
	} else {
		key = fmt.Sprintf("%s of %s in %s", key, w.name, c.fn.Name)
	}
	p := build()
	c.exe.packs[key] = p
	return p
}

// packFor returns the pack of a weight with this key.
func (c *compiler) packFor(w *value, key string, parts func() []packPart) *pack {
	return shared(c, w, key, func() *pack {
		p := &pack{parts: parts(), of: w.state}
		for i := range p.parts {
			p.parts[i].data = make([]float32, p.parts[i].window.PackedLen())
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
func (p *pack) fill(f *frame, weights *value) {
	if p.of != nil && p.stamp == p.of.stamp {
		return
	}
	src := f.f32(weights)
	for i := range p.parts {
		part := &p.parts[i]
		f.each(part.window.Panels(), func(_ *worker, panel int) {
			part.window.Pack(panel, part.data, src, part.at, part.step)
		})
	}
	if p.of != nil {
		p.stamp = p.of.stamp
	}
}
