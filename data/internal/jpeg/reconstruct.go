package jpeg

import "context"

// put transforms a block of dequantized coefficients, and writes its samples to the plane. last is the index
// of the last nonzero coefficient, in the order of a scan.
func (c *component) put(b *block, last, x, y int) {
	dst := c.plane.Pix[8*(y%(c.plane.Retained/8)*c.plane.Stride+x):]
	if last == 0 {
		v := sample((b[0] + 4) >> 3) // the transform would give the same result
		for range 8 {
			row := dst[:8]
			for i := range row {
				row[i] = v
			}
			dst = dst[min(c.plane.Stride, len(dst)):]
		}
		return
	}
	idct(b)
	for i := range 8 {
		row, from := dst[:8:8], b[8*i:8*i+8:8*i+8]
		for k := range row {
			row[k] = sample(from[k])
		}
		dst = dst[min(c.plane.Stride, len(dst)):]
	}
}

// sample returns a result of the transform as a sample: it adds 128, and limits the sum to the range of a
// byte.
func sample(v int32) byte { return byte(max(0, min(255, v+128))) }

// reconstruct computes the samples of a component of a progressive frame.
func (c *component) reconstruct(ctx context.Context) error {
	for i := range c.blocks {
		if i%c.blocksWide == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, last := &c.blocks[i], 0
		for k, at := range zigzag {
			if b[at] != 0 {
				last = k
				b[at] *= c.steps[at]
			}
		}
		c.put(b, last, i%c.blocksWide, i/c.blocksWide)
	}
	c.blocks = nil
	return nil
}
