package operations

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

func buildMaxPoolInt8(c *plan.Compiler) run.Action {
	return pooledBytes(c, func(f *run.Frame, _ *run.Worker, pooled, image []byte, pixels []int32) {
		f.Kernels.MaxPoolInt8(pooled, image, pixels)
	})
}

// mean converts sums of bytes to the bytes of their mean.
type mean struct {
	class.Int8
	zero   int32   // zero point of the operand
	factor float64 // factor for one element
}

// round sets y to means. Each of sums has n elements, and is divided by count.
func (m mean) round(y []byte, sums []int32, n, count int) {
	by, less := class.MeanBy(m.factor, count), m.zero*int32(n)
	for ch, sum := range sums {
		y[ch] = m.Requantise(sum-less, by)
	}
}

func buildAvgPoolInt8(c *plan.Compiler) run.Action {
	node, k := c.Node(), c.Node().Ints("kernel")
	m := mean{class.Int8Of(node), int32(node.Int("x_zero")), node.Float("by")}
	if w, x := c.Window(), c.In(0); c.Out(0).Positions == 1 && w.Pad == [4]int{} && k[0]*k[1] == x.Positions {
		return wholeMean(c, m)
	}
	return pooledBytes(c, func(_ *run.Frame, w *run.Worker, pooled, image []byte, pixels []int32) {
		sums, count := w.Integers(len(pooled)), len(pixels)
		if node.Bool("count_pad") {
			count = k[0] * k[1]
		}
		clear(sums)
		for _, at := range pixels {
			for ch, v := range image[int(at)/4:][:len(sums)] {
				sums[ch] += int32(v)
			}
		}
		m.round(pooled, sums, len(pixels), count)
	})
}

// wholeMean returns the action of a mean over a whole image.
func wholeMean(c *plan.Compiler, m mean) run.Action {
	x, y := c.In(0), c.Out(0)
	x.SetSlack()
	return &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		sums := w.Integers(x.Channels)
		f.Kernels.SumInt8(sums, f.Unit(x, w, graph.Rows, i), x.Positions)
		m.round(f.Unit(y, w, graph.Rows, i), sums, x.Positions, x.Positions)
	}}
}

// pooledBytes returns the action of a pool over bytes. do computes the channels of a pixel
// from the pixels in its window, which windows lists as offsets of elements of four bytes.
func pooledBytes(c *plan.Compiler, do func(f *run.Frame, w *run.Worker, pooled, image []byte,
	pixels []int32)) run.Action {
	x, y := c.In(0), c.Out(0)
	seen, n := windowsOf(c, x.Shape, y.Shape), x.Channels
	return run.BySpan(&run.ByRows{Work: x.Count / 4, Spans: run.Spans{Positions: y.Positions, Step: 1,
		Width: bytesWidth(n), Needs: geometry(c, x, y).Needs,
		Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
			image, pooled := f.Unit(x, w, y.Kind, i), f.Unit(y, w, y.Kind, i)
			for p := from; p < to; p++ {
				do(f, w, pooled[p*n:][:n], image, seen[p])
			}
		}}})
}
