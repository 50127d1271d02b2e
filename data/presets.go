package data

import "github.com/bnctl/bnctl/tensor"

// ignored represents -1 in a mask that is being transformed: no class.
const ignored = 255

// apply fills dst from src, which has the same number of channels. s scales the pictures that the
// augmentation leaves whole.
func (a Augment) apply(s scaling, dst, src plane, d *tensor.Draws) {
	switch a {
	case CIFARAugment:
		if src.h != dst.h || src.w != dst.w || s.resize != 0 {
			fitted := plane{dst.h, dst.w, dst.c, make([]byte, len(dst.pix))}
			s.fit(fitted, src)
			src = fitted
		}
		padCrop(dst, src, 0, d)
		randomFlip(dst, d)
	case ImageNetAugment:
		resample(s.filter, dst, src, randomCrop(src.h, src.w, d), dst.w, dst.h, box{0, 0, dst.w, dst.h})
		randomFlip(dst, d)
	case SegmentAugment:
		s.draw(dst, src, drawView(s, dst, src, d))
		randomFlip(dst, d)
		jitter(dst, d)
	case NoAugment:
		s.fit(dst, src)
	default:
		a.play(s, dst, src, d, false)
	}
}

// applyMask is apply for a mask.
func (a Augment) applyMask(s scaling, dst, src plane, d *tensor.Draws) {
	switch a {
	case CIFARAugment:
		fitted := plane{dst.h, dst.w, 1, make([]byte, len(dst.pix))}
		s.fitMask(fitted, src)
		padCrop(dst, fitted, ignored, d)
		randomFlip(dst, d)
	case ImageNetAugment:
		nearest(dst, src, randomCrop(src.h, src.w, d), dst.w, dst.h, box{0, 0, dst.w, dst.h})
		randomFlip(dst, d)
	case SegmentAugment:
		v := drawView(s, dst, src, d)
		v.fill(dst, ignored, func(visible plane, window box) {
			nearest(visible, src, box{0, 0, src.w, src.h}, v.w, v.h, window)
		})
		randomFlip(dst, d)
	case NoAugment:
		s.fitMask(dst, src)
	default:
		a.play(s, dst, src, d, true)
	}
}

// drawView draws a scale from 0.5 to 2, in units of the size that evaluation gives the
// picture, and its position in dst. It uses four draws.
func drawView(s scaling, dst, src plane, d *tensor.Draws) view {
	w, h := s.size(dst, src)
	scale := d.Between(0.5, 2)
	v := view{w: max(1, int(float64(float64(w)*scale)+0.5)), h: max(1, int(float64(float64(h)*scale)+0.5))}
	v.x, v.y = offset(v.w-dst.w, d), offset(v.h-dst.h, d)
	return v
}

// offset draws from 0 to spare, or from spare to 0 if spare is negative.
func offset(spare int, d *tensor.Draws) int {
	if spare < 0 {
		return -d.Intn(-spare + 1)
	}
	return d.Intn(spare + 1)
}
