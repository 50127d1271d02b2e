package ref

// image converts (H, W, C) bytes to (C, H, W) floats.
func image(c *call) {
	x, y := c.in(0), c.out(0)
	channels := y.typ.Shape[0]
	pixels := y.size / channels
	scale, bgr := c.Float("scale"), c.Bool("bgr")
	mean, std := orElse(c.Floats("mean"), channels, 0), orElse(c.Floats("std"), channels, 1)
	for n := range y.lead {
		src, dst := x.ints(n), y.block(n)
		for ch := range channels {
			from := ch
			if bgr {
				from = channels - 1 - ch
			}
			for p := range pixels {
				dst[ch*pixels+p] = (float64(float64(src[p*channels+from])*scale) - mean[ch]) / std[ch]
			}
		}
	}
}

// orElse returns list, or n times value if it is empty.
func orElse(list []float64, n int, value float64) []float64 {
	if len(list) > 0 {
		return list
	}
	list = make([]float64, n)
	for i := range list {
		list[i] = value
	}
	return list
}
