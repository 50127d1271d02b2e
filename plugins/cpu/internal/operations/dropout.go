package operations

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// buildDropout draws random numbers for the elements of a row in their logical order.
func buildDropout(c *plan.Compiler) run.Action {
	x, ident, y := c.In(0), c.In(1), c.Out(0)
	if ident == nil {
		return c.Refuse("dropout without the operand ident only marks a place")
	}
	philox := tensor.NewPhilox(uint64(c.Node().Int("seed")),
		tensor.StreamDropout+tensor.Stream(c.Node().Int("stream")))
	p := c.Node().Float("p")
	keep, logical, strides := float32(1-p), layout.RowMajor(x.Shape), x.Strides()
	return &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		in, out, id := f.At(x, w, i), f.At(y, w, i), layout.View[int64](f.Unit(ident, w, graph.Rows, i))
		draws := philox.Draws(uint32(id[0]), uint64(id[1]))
		layout.Walk(x.Shape, logical, strides, nil, func(n, _, k, _, _, step, _ int) {
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
