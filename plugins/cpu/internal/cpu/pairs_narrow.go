package cpu

// evenChannels returns the geometry with one channel more, which is 0, if there
// is an odd number of them: so that runs are even.
func (g *conv) evenChannels() *conv {
	even := *g
	even.c += g.c % 2
	return &even
}

// buildNarrowPairs is a convolution over padded images by pairs.
func (c *compiler) buildNarrowPairs(g *conv, x *value, t *filter, y *value) action {
	even := g.evenChannels()
	k := c.newPairsProduct(c.pairsFor(t, g.key("narrow"), func() []packPart {
		at, step := g.narrowAt()
		return []packPart{{window: even.narrowForward(), at: spread(at, g.c, even.c), step: step}}
	}, false), t, y)
	row := c.rowOf(x, y)
	a := bySpan(action{prepare: k.prepare, work: k.work(), positions: y.positions, step: g.ow, width: y.channels,
		span: func(f *frame, w *worker, i, from, to int) {
			o := row(f, w, i)
			in := k.narrowRows(w, g, o.in, from/g.ow, (to-1)/g.ow)
			for _, u := range k.units {
				k.do(w, u, k.parts[0].pairs, pairsOperands{o.out, in, o.end}, from, to)
			}
		}})
	a.rounds = true
	return a
}

// spread returns at, c elements for every pixel, with even elements for every
// pixel: what is added is -1, no weight.
func spread(at []int, c, even int) (all []int) {
	for i := 0; i < len(at); i += c {
		all = append(all, at[i:i+c]...)
		for range even - c {
			all = append(all, -1)
		}
	}
	return all
}

// narrowRows pads an image as paddedRows does, with even channels of bfloat16.
func (p *pairsProduct) narrowRows(w *worker, g *conv, image []float32, y0, y1 int) []uint16 {
	padded, wide, even := g.paddedRows(w, image, 0, y0, y1), g.paddedWidth(), g.c+g.c%2
	from, to := y0*g.Stride[0], y1*g.Stride[0]+(g.Kernel[0]-1)*g.Dilation[0]+1
	pixels := (g.h + g.Pad[0] + g.Pad[2]) * wide
	halves := w.halves(pixels*even + wide*g.c)
	all, line := halves[:pixels*even], halves[pixels*even:]
	for y := from; y < to; y++ {
		row := all[y*wide*even:][:wide*even]
		if g.c == even {
			p.kernels.NarrowBF16(row, padded[y*wide*g.c:][:wide*g.c])
			continue
		}
		p.kernels.NarrowBF16(line[:wide*g.c], padded[y*wide*g.c:])
		spreadPixels(row, line, g.c)
	}
	return all
}

// spreadPixels copies pixels of an odd number of values to ones of one more,
// which is 0.
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
