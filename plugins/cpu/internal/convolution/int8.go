package convolution

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Products of int8 are exact, so every order of summation has the same result: docs/int8.md. Maps are
// bytes, channels last. The zero point of a map is folded into the initial value of the sums:
//
// 	bias + sum of weight * (x - zero)  =  bias - zero * sum of weight  +  sum of weight * x
//
// The bytes of padding are equal to the zero point (zero in this formula).

// productInt8 is the products of a node of int8: windows with weights, one for each group,
// and the conversion from sums to results.
type productInt8 struct {
	weight, bias, factors *run.Value
	sections              []sectionInt8
	depthwise             *kernel.DepthwiseInt8 // nil if the sections compute the products
	q                     class.Int8
	zero                  int32 // zero point of the operand
	float                 bool  // results are float32
	step                  int   // number of weights of an output channel
	changed               func() bool
}

// sectionInt8 has the weights of one group, and the numbers of its first channels.
type sectionInt8 struct {
	window  *kernel.Int8
	offsets []int // for each tap and value, the offset of its weight for the first output channel
	in, out int
	data    []int8
	kernel.Requantise
}

// Bytes returns the memory of the packed weights.
func (p *productInt8) Bytes() (n int64) {
	for _, s := range p.sections {
		n += int64(len(s.data))
	}
	return n
}

// newProductInt8 returns the products of the current node, without sections.
func newProductInt8(c *plan.Compiler) *productInt8 {
	p := &productInt8{weight: c.In(1), bias: c.In(2), factors: c.In(3), q: class.Int8Of(c.Node()),
		zero: int32(c.Node().Int("x_zero")), float: c.Node().Bool("float")}
	p.step = p.weight.Count / max(1, p.weight.Shape[0])
	p.changed = run.Changes(p.weight, p.bias, p.factors)
	c.SetPacked(fmt.Sprintf("int8 of %s in %s", c.NodeName(), c.Function()), p)
	return p
}

// add adds a section with the weights of one group. The section has n sums and factors (Start and By), and
// its packed weights have the given number of bytes.
func (p *productInt8) add(c *plan.Compiler, w *kernel.Int8, offsets []int, in, out, n, bytes int) {
	s := sectionInt8{window: w, offsets: offsets, in: in, out: out, data: plan.ReservePacked[int8](c, bytes)}
	s.Requantise = kernel.Requantise{Int8: p.q, Start: make([]int32, n), By: make([]float32, n)}
	p.sections = append(p.sections, s)
}

// prepare packs the weights that have changed.
func (p *productInt8) prepare(f *run.Frame) error {
	if !p.changed() {
		return nil
	}
	weights, bias := layout.View[int8](f.Bytes(p.weight)), layout.View[int32](f.Bytes(p.bias))
	by := f.F32(p.factors)
	for i := range p.sections {
		s := &p.sections[i]
		for c := range s.window.Width {
			o, sum := s.out+c, int32(0)
			for _, w := range weights[o*p.step : (o+1)*p.step] {
				sum += int32(w)
			}
			start, factor := bias[o]-p.zero*sum, by[o]
			if !p.float {
				factor = finite(factor)
			}
			if p.depthwise != nil {
				p.depthwise.Set(s.Requantise, c, start, factor)
			} else {
				s.Start[c], s.By[c] = f.Kernels.StartInt8(start, sum), factor
			}
		}
		if p.depthwise != nil {
			p.depthwise.Pack(s.data, weights)
			continue
		}
		f.Each(s.window.Panels(), func(_ *run.Worker, panel int) {
			f.Kernels.PackInt8(s.window, panel, s.data, weights[s.out*p.step:], s.offsets, p.step)
		})
	}
	p.weight.State().Rest()
	return nil
}

// finite returns a finite factor that kernels accept and that has the same results as factor. A
// factor of NaN becomes 0, and an infinite one becomes a bound.
func finite(factor float32) float32 {
	if factor != factor {
		return 0
	}
	return max(min(factor, math.MaxFloat32), -math.MaxFloat32)
}

// do computes positions [from, to) of panels [first, last) of a section. in is one row of the operand.
func (p *productInt8) do(f *run.Frame, w *run.Worker, s *sectionInt8, win *kernel.Int8, first, last int, out,
	in []byte, from, to int) {
	switch {
	case p.depthwise != nil:
		f.Kernels.DepthwiseInt8(p.depthwise, out, in, s.data, s.Requantise, from, to, &w.Int8)
	case p.float:
		sums := layout.View[float32](out)[s.out:]
		f.Kernels.Int8Float(win, first, last, sums, in[s.in:], s.data, s.Requantise, from, to, &w.Int8)
	default:
		f.Kernels.Int8(win, first, last, out[s.out:], in[s.in:], s.data, s.Requantise, from, to, &w.Int8)
	}
}

func buildConvInt8(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	g := NewGeometry(c.Window(), x.Shape, y.Shape)
	if why := g.TooLarge(class.Forward); why != "" {
		return c.Refuse(why)
	}
	p, pad := newProductInt8(c), uint8(c.Node().Int("x_zero"))
	spans := run.Spans{Positions: y.Positions, Step: positionStep, Width: widthOf(y), Needs: g.Needs,
		Pointwise: g.pointwise()}
	lines := g.byLines()
	switch {
	case lines:
		offsets, _ := g.narrowAt()
		w := kernel.NewInt8(g.narrowForward(), pad)
		p.add(c, w, offsets, 0, 0, w.BiasLen(), w.PackedLen())
		spans.Step = g.ow
	case g.cg == 1 && g.og == 1 && !p.float:
		p.depthwise = c.Kernels().NewDepthwiseInt8(g.pixels().forward(), pad)
		p.add(c, p.depthwise.Int8, nil, 0, 0, p.depthwise.Channels(), p.depthwise.PackedLen())
	default:
		w := kernel.NewInt8(g.forward(), pad)
		offsets, _ := g.forwardAt(0)
		for i := range g.Groups {
			p.add(c, w, offsets, i*g.cg, i*g.og, w.BiasLen(), w.PackedLen())
		}
	}
	spans.Span = func(f *run.Frame, w *run.Worker, i, from, to int) {
		in, out := f.Unit(x, w, graph.Rows, i), f.Unit(y, w, graph.Rows, i)
		if lines {
			in = g.paddedBytes(w, in, pad, from/g.ow*g.Stride[0], from/g.ow*g.Stride[0]+g.sees((to-from)/g.ow))
		}
		for s := range p.sections {
			section := &p.sections[s]
			p.do(f, w, section, section.window, 0, section.window.Panels(), out, in, from, to)
		}
	}
	return run.BySpan(&run.ByRows{Prepare: p.prepare, Work: workInt8(c, y.Count*p.step), Spans: spans})
}

// widthOf returns the width of a position of a map in elements of four bytes.
func widthOf(y *run.Value) int { return max(1, y.Channels*y.DType.Size()/4) }

// workInt8 estimates the time of a number of products, in nanoseconds.
func workInt8(c *plan.Compiler, products int) int {
	perNanosecond := 1
	if c.Kernels().Bytes() {
		perNanosecond = 100
	}
	return products / perNanosecond
}

// paddedBytes writes rows [from, to) of a padded image of bytes to the worker's private
// memory.
func (g *Geometry) paddedBytes(w *run.Worker, image []byte, zero byte, from, to int) []byte {
	row := g.paddedWidth() * g.c
	padded := w.Bytes(g.paddedLen() + arena.Slack)
	for y := from; y < to; y++ {
		line := padded[y*row:][:row]
		left, right := line, line[:0]
		if source := y - g.Pad[0]; source >= 0 && source < g.h {
			left, right = line[:g.Pad[1]*g.c], line[(g.Pad[1]+g.w)*g.c:]
			copy(line[len(left):], image[source*g.w*g.c:][:g.w*g.c])
		}
		for i := range left {
			left[i] = zero
		}
		for i := range right {
			right[i] = zero
		}
	}
	return padded
}

// A dense product uses the rows of the batch as its positions, like a product of float32.

func buildDenseInt8(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	if max(x.Count, y.Count) > mostDense {
		return c.Refuse(fmt.Sprintf("rows of more than %d values", mostDense))
	}
	x.SetSlack()
	p, offsets := newProductInt8(c), make([]int, x.Count)
	windows := denseWindowsOf(x.Count, y.Count)
	for i := range offsets {
		offsets[i] = i
	}
	one := kernel.NewInt8(windows.rows(1), 0)
	p.add(c, one, offsets, 0, 0, one.BiasLen(), one.PackedLen())
	of := map[int]*kernel.Int8{1: one}
	return run.Whole(func(f *run.Frame) error {
		in, out, rows, section := f.Bytes(x), f.Bytes(y), f.Total(), &p.sections[0]
		blocks := (rows + denseRows - 1) / denseRows
		for _, n := range []int{min(denseRows, rows), rows % denseRows} {
			if of[n] == nil && n > 0 {
				of[n] = kernel.NewInt8(windows.rows(n), 0)
			}
		}
		f.Each(one.Panels()*blocks, func(w *run.Worker, task int) {
			panel, first := task/blocks, task%blocks*denseRows
			n := min(denseRows, rows-first)
			p.do(f, w, section, of[n], panel, panel+1, out[first*y.Count*y.DType.Size():], in[first*x.Count:], 0, n)
		})
		return nil
	}).After(p.prepare)
}
