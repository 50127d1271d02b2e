package augmentation

import (
	"bytes"
	"math"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// padCrop moves the picture by up to 4 pixels along each axis. Pixels that become free get the value border.
func padCrop(dst, src images.Plane, border byte, d *tensor.Draws) {
	shiftRandomly(dst, src, 4, border, d)
}

// shiftRandomly moves the picture by up to pad pixels along each axis, and fills the gap with the value
// border, which is black for a picture. It uses two draws.
func shiftRandomly(dst, src images.Plane, pad int, border byte, d *tensor.Draws) {
	dx, dy := d.Intn(2*pad+1)-pad, d.Intn(2*pad+1)-pad
	copy(dst.Pix, bytes.Repeat([]byte{border}, len(dst.Pix)))
	for y := max(0, -dy); y < min(dst.H, dst.H-dy); y++ {
		from, to := src.Row(y+dy), dst.Row(y)
		if dx >= 0 {
			copy(to, from[min(dx, src.W)*src.C:])
		} else if -dx < dst.W {
			copy(to[-dx*dst.C:], from)
		}
	}
}

// randomFlip mirrors p, left to right, with a probability of one half. It uses one draw.
func randomFlip(p images.Plane, d *tensor.Draws) {
	if d.Uint32()>>31 != 0 {
		mirror(p)
	}
}

// mirror exchanges left and right in p.
func mirror(p images.Plane) {
	for y := range p.H {
		row := p.Row(y)
		for i, j := 0, (p.W-1)*p.C; i < j; i, j = i+p.C, j-p.C {
			for k := range p.C {
				row[i+k], row[j+k] = row[j+k], row[i+k]
			}
		}
	}
}

// randomCrop draws the part of an h x w picture for random resized crop (Szegedy et al. 2015, as in
// torchvision). The part has 8 to 100 % of the area, and sides in a ratio of 3/4 to 4/3. If ten drawn parts
// in a row do not fit into the picture, it returns the middle of the picture.
func randomCrop(h, w int, d *tensor.Draws) images.Box { return randomPart(h, w, 0.08, 1, d) }

// randomPart is like randomCrop, but the share of the area is from low to high.
func randomPart(h, w int, low, high float64, d *tensor.Draws) images.Box {
	const widest = 4. / 3
	logWidest := tensor.Log(widest)
	area := float64(h * w)
	for range 10 {
		target := float64(area * d.Between(low, high))
		ratio := tensor.Exp(d.Between(-logWidest, logWidest))
		cw := int(math.RoundToEven(math.Sqrt(float64(target * ratio))))
		ch := int(math.RoundToEven(math.Sqrt(target / ratio)))
		if 0 < cw && cw <= w && 0 < ch && ch <= h {
			return images.Box{X: d.Intn(w - cw + 1), Y: d.Intn(h - ch + 1), W: cw, H: ch}
		}
	}
	cw, ch := w, h
	switch ratio := float64(w) / float64(h); {
	case ratio < 1/widest:
		ch = int(math.RoundToEven(float64(w) * widest))
	case ratio > widest:
		cw = int(math.RoundToEven(float64(h) * widest))
	}
	return images.Box{X: (w - cw) / 2, Y: (h - ch) / 2, W: cw, H: ch}
}
