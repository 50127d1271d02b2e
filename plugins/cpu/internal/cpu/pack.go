package cpu

import (
	"fmt"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// pack is a matrix of weights in the order in which kernels read it. It is
// made again when the weights have changed.
type pack struct {
	parts []packPart
	bias  []float32
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

// packFor returns the pack of a weight with this key: nodes that read the
// same weights in the same order share it.
func (c *compiler) packFor(w *value, key string, parts func() []packPart) *pack {
	if w.state != nil {
		key = fmt.Sprintf("%s of @%s", key, w.name)
		if p := c.exe.packs[key]; p != nil {
			return p
		}
	} else {
		key = fmt.Sprintf("%s of %s in %s", key, w.name, c.fn.Name)
	}
	p := &pack{parts: parts(), of: w.state}
	for i := range p.parts {
		p.parts[i].data = make([]float32, p.parts[i].window.PackedLen())
	}
	c.exe.packs[key] = p
	return p
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
