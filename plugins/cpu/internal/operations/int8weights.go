package operations

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// buildQuantizeWeight builds the quantisation of a weight. Each thread quantises some of the output
// channels.
func buildQuantizeWeight(c *plan.Compiler) run.Action {
	weight, bias, q, steps, by, back := c.In(0), c.In(1), c.Out(0), c.Out(1), c.Out(2), c.Out(3)
	s, channels := class.WeightsInt8Of(c.Node()), bias.Count
	per := weight.Count / max(1, channels)
	return run.Whole(func(f *run.Frame) error {
		w, b, bytes, number := f.F32(weight), f.F32(bias), layout.View[int8](f.Bytes(q)), f.F32(back)
		start, factor := layout.View[int32](f.Bytes(steps)), f.F32(by)
		pieces := min(channels, f.Threads())
		if weight.Count < leastQuantized {
			pieces = 1
		}
		f.Each(pieces, func(_ *run.Worker, piece int) {
			from, to := schedule.Span(piece, pieces, channels)
			for o := from; o < to; o++ {
				at, end := o*per, (o+1)*per
				start[o], factor[o] = s.Channel(bytes[at:end], number[at:end], w[at:end], b[o])
			}
		})
		return nil
	})
}

// leastQuantized is the minimum number of weights for which a second thread is worthwhile.
const leastQuantized = 4096
