package augmentation

import (
	"github.com/bnctl/bnctl/data/images"
)

// The changes of colours give the same pixels as Pillow's ImageEnhance and ImageOps, and so as torchvision
// for pictures. Mixed values are truncated to a whole level of 0 to 255, not rounded.

// mixed returns base + factor*(v-base), computed in float32, truncated to a whole level.
func mixed(base, v byte, factor float32) byte {
	m := float32(base) + float32(factor*float32(int(v)-int(base)))
	return byte(min(max(m, 0), 255))
}

// brightness moves the values of all pixels away from black by a factor.
func brightness(p images.Plane, factor float64) {
	for i, v := range p.Pix {
		p.Pix[i] = mixed(0, v, float32(factor))
	}
}

// contrast moves the values of all pixels away from the mean grey of the picture, which is rounded.
func contrast(p images.Plane, factor float64) {
	sum, n := 0, max(1, p.H*p.W)
	for i := 0; i < len(p.Pix); i += p.C {
		sum += int(greyOf(p.Pix[i : i+p.C]))
	}
	mean := byte((2*sum + n) / (2 * n))
	for i, v := range p.Pix {
		p.Pix[i] = mixed(mean, v, float32(factor))
	}
}

// saturation moves the channels of each pixel away from the pixel's grey value. It does not change grey
// pictures.
func saturation(p images.Plane, factor float64) {
	if p.C != 3 {
		return
	}
	for i := 0; i < len(p.Pix); i += 3 {
		of := greyOf(p.Pix[i : i+3])
		for k := i; k < i+3; k++ {
			p.Pix[k] = mixed(of, p.Pix[k], float32(factor))
		}
	}
}

// greyOf returns the grey value (luma) of a pixel.
func greyOf(pixel []byte) byte {
	if len(pixel) == 3 {
		return byte(images.Luma(pixel))
	}
	return pixel[0]
}
