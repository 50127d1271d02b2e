package cpu

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// buildDropout draws in the logical order of a row's elements.
func buildDropout(c *compiler) action {
	x, ident, y := c.in(0), c.in(1), c.out(0)
	if ident == nil {
		return c.no("dropout without the operand ident only marks a place")
	}
	philox := tensor.NewPhilox(uint64(c.node.Int("seed")),
		tensor.StreamDropout+tensor.Stream(c.node.Int("stream")))
	p := c.node.Float("p")
	keep, logical, strides := float32(1-p), rowMajor(x.Shape), x.strides()
	return action{row: func(f *frame, w *worker, i, _, _ int) {
		in, out, id := f.at(x, w, i), f.at(y, w, i), of[int64](f.unit(ident, w, graph.Rows, i))
		draws := philox.Draws(uint32(id[0]), uint64(id[1]))
		walk(x.Shape, logical, strides, nil, func(n, _, k, _, _, step, _ int) {
			for range n {
				out[k] = 0
				if float64(draws.Float32()) >= p {
					out[k] = in[k] / keep
				}
				k += step
			}
		})
	}}
}
