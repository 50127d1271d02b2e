package data

// The changes of colours equal Pillow's ImageEnhance and ImageOps, and hence torchvision's
// for pictures: mixed values are truncated to a whole level, not rounded.

// mixed returns base + factor*(v-base), computed in float32, truncated to a level.
func mixed(base, v byte, factor float32) byte {
	m := float32(base) + float32(factor*float32(int(v)-int(base)))
	return byte(min(max(m, 0), 255))
}

// brightness moves all pixels away from black.
func brightness(p plane, factor float64) {
	for i, v := range p.pix {
		p.pix[i] = mixed(0, v, float32(factor))
	}
}

// contrast moves all pixels away from the mean grey of the picture, rounded.
func contrast(p plane, factor float64) {
	sum, n := 0, max(1, p.h*p.w)
	for i := 0; i < len(p.pix); i += p.c {
		sum += int(greyOf(p.pix[i : i+p.c]))
	}
	mean := byte((2*sum + n) / (2 * n))
	for i, v := range p.pix {
		p.pix[i] = mixed(mean, v, float32(factor))
	}
}

// saturation moves each pixel away from its grey value. It does not change grey pictures.
func saturation(p plane, factor float64) {
	if p.c != 3 {
		return
	}
	for i := 0; i < len(p.pix); i += 3 {
		of := greyOf(p.pix[i : i+3])
		for k := i; k < i+3; k++ {
			p.pix[k] = mixed(of, p.pix[k], float32(factor))
		}
	}
}

// greyOf returns the luma of a pixel.
func greyOf(pixel []byte) byte {
	if len(pixel) == 3 {
		return byte(luma(pixel))
	}
	return pixel[0]
}
