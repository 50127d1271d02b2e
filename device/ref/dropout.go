package ref

import (
	"errors"

	"github.com/bnctl/bnctl/tensor"
)

// dropout computes x/(1-p) where an element is kept, and 0 elsewhere. Element e of a row is
// kept if random word e of its sample, scaled to [0, 1), is at least p. 1-p is rounded to f32
// first.
func dropout(c *call) {
	x, ident, y := c.in(0), c.in(1), c.out(0)
	if ident == nil {
		c.err = errors.New("dropout without the operand ident only marks a place and cannot run")
		return
	}
	philox := tensor.NewPhilox(uint64(c.Int("seed")), tensor.StreamDropout+tensor.Stream(c.Int("stream")))
	p := c.Float("p")
	keep := float64(float32(1 - p))
	for n := range y.lead {
		id := ident.ints(n) // epoch and sample
		draws := philox.Draws(uint32(id[0]), uint64(id[1]))
		for e, v := range x.block(n) {
			if float64(draws.Float32()) >= p {
				y.block(n)[e] = v / keep
			}
		}
	}
}
