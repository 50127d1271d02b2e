package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Images with few channels (a picture has 3) are first padded to whole lines, as for
// float32 (paddedRows). A row of the kernel is then one run of kw*C values instead of
// kw short ones. C is made even, because the two values of a pair are adjacent in a run.
//
// 	| 0 0 0 0 | r g b 0 | r g b 0 | ... | 0 0 0 0 |      a run: 3 pixels of 4 values

// evenChannels returns the geometry with an even number of channels, so that runs are even.
// It adds a channel of zeros if their number is odd.
func (g *Geometry) evenChannels() *Geometry {
	even := *g
	even.c += g.c % 2
	return &even
}

// buildNarrowDot2 builds a convolution over padded images by pairs.
func buildNarrowDot2(c *plan.Compiler, g *Geometry, x *run.Value, t *filter, y *run.Value) run.Action {
	even := g.evenChannels()
	k := newDot2Product(c, dot2For(c, t, g.key("narrow"), func() []packSection {
		offsets, step := g.narrowAt()
		return []packSection{{window: even.narrowForward(), offsets: spread(offsets, g.c, even.c), step: step}}
	}, false), t, y)
	row := k.rowOf(c, x, y)
	a := run.BySpan(&run.ByRows{Prepare: k.prepare, Work: k.work(), Spans: run.Spans{Positions: y.Positions,
		Step: g.ow, Width: y.Channels, Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
			o := row(f, w, i)
			o.in = k.narrowRows(w, g, o, from/g.ow, (to-1)/g.ow)
			for _, u := range k.units {
				k.do(w, u, k.packed.sections[0].pairs, o, from, to)
			}
		}}})
	a.Rounds, a.AsHalves = true, k.asHalves(c, x, y)
	return a
}

// spread expands a list of offsets from c channels for every pixel to even channels. The added elements are
// -1, which means that there is no weight.
func spread(offsets []int, c, even int) (list []int) {
	for i := 0; i < len(offsets); i += c {
		list = append(list, offsets[i:i+c]...)
		for range even - c {
			list = append(list, -1)
		}
	}
	return list
}

// narrowRows pads an image in the worker's private memory as paddedRows does, with an even
// number of bfloat16 channels.
func (p *dot2Product) narrowRows(w *run.Worker, g *Geometry, o dot2Operands, y0, y1 int) []uint16 {
	width, even, count := g.paddedWidth(), g.c+g.c%2, g.w*g.c
	from, to := y0*g.Stride[0], y1*g.Stride[0]+(g.Kernel[0]-1)*g.Dilation[0]+1
	workspace := w.Halves((g.h+g.Pad[0]+g.Pad[2])*width*even + count)
	all, line := workspace[:len(workspace)-count], workspace[len(workspace)-count:]
	left, right := g.Pad[1]*even, (g.Pad[1]+g.w)*even
	for y := from; y < to; y++ {
		padded, source := all[y*width*even:][:width*even], y-g.Pad[0]
		if source < 0 || source >= g.h {
			clear(padded)
			continue
		}
		clear(padded[:left])
		clear(padded[right:])
		inner := padded[left:right]
		switch at := source * count; {
		case g.c == even && o.in != nil:
			copy(inner, o.in[at:])
		case g.c == even:
			p.kernels.NarrowBF16(inner, o.image[at:])
		case o.in != nil:
			spreadPixels(inner, o.in[at:], g.c)
		default:
			p.kernels.NarrowBF16(line, o.image[at:])
			spreadPixels(inner, line, g.c)
		}
	}
	return all
}

// spreadPixels copies pixels of an odd number of values to pixels with an additional value
// of 0.
func spreadPixels(dst, src []uint16, c int) {
	if c == 3 {
		for i := range len(dst) / 4 {
			to, from := dst[4*i:][:4], src[3*i:][:3]
			to[0], to[1], to[2], to[3] = from[0], from[1], from[2], 0
		}
		return
	}
	for i := range len(dst) / (c + 1) {
		copy(dst[i*(c+1):], src[i*c:][:c])
		dst[i*(c+1)+c] = 0
	}
}
