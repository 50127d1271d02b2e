package augmentation

import (
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// jitterOne is a factor of 1 for changing colours, in fixed point.
const jitterOne = 1 << 16

// jitter changes brightness, contrast and saturation of a picture, each by a factor from 0.6 to 1.4. Values
// are moved away from black, from the mean grey of the picture, and from the grey of each pixel. It uses
// three draws.
func jitter(p images.Plane, d *tensor.Draws) {
	factor := func() int { return int(jitterOne * d.Between(0.6, 1.4)) }
	brightness, contrast, saturation := factor(), factor(), factor()
	for i, v := range p.Pix {
		p.Pix[i] = blend(0, int(v), brightness)
	}
	mean := meanGrey(p)
	for i, v := range p.Pix {
		p.Pix[i] = blend(mean, int(v), contrast)
	}
	if p.C != 3 {
		return
	}
	for i := 0; i < len(p.Pix); i += 3 {
		grey := images.Luma(p.Pix[i:])
		for k := i; k < i+3; k++ {
			p.Pix[k] = blend(grey, int(p.Pix[k]), saturation)
		}
	}
}

// blend returns base + factor*(v-base), rounded and clamped to a byte.
func blend(base, v, factor int) byte {
	return byte(min(max(base+((v-base)*factor+jitterOne/2)>>16, 0), 255))
}

// meanGrey returns the mean luma of a picture, rounded down.
func meanGrey(p images.Plane) int {
	sum := 0
	for i := 0; i < len(p.Pix); i += p.C {
		if p.C == 3 {
			sum += images.Luma(p.Pix[i:])
		} else {
			sum += int(p.Pix[i])
		}
	}
	return sum / max(1, p.H*p.W)
}
