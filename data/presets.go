package data

import (
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// ignored represents -1 in a mask that is being transformed: no class.
const ignored = 255

// apply fills dst from src, which has the same number of channels. s scales the pictures that the
// augmentation leaves whole.
func (a Augment) apply(s images.Scaling, dst, src images.Plane, d *tensor.Draws) {
	switch a {
	case CIFARAugment:
		if src.H != dst.H || src.W != dst.W || s.Resize != 0 {
			fitted := images.NewPlane(dst.H, dst.W, dst.C)
			s.Fit(fitted, src)
			src = fitted
		}
		padCrop(dst, src, 0, d)
		randomFlip(dst, d)
	case ImageNetAugment:
		images.Resample(s.Filter, dst, src, randomCrop(src.H, src.W, d), dst.W, dst.H, dst.Bounds())
		randomFlip(dst, d)
	case SegmentAugment:
		s.Draw(dst, src, drawView(s, dst, src, d))
		randomFlip(dst, d)
		jitter(dst, d)
	case NoAugment:
		s.Fit(dst, src)
	default:
		a.play(s, dst, src, d, false)
	}
}

// applyMask is apply for a mask.
func (a Augment) applyMask(s images.Scaling, dst, src images.Plane, d *tensor.Draws) {
	switch a {
	case CIFARAugment:
		fitted := images.NewPlane(dst.H, dst.W, 1)
		s.FitMask(fitted, src)
		padCrop(dst, fitted, ignored, d)
		randomFlip(dst, d)
	case ImageNetAugment:
		images.Nearest(dst, src, randomCrop(src.H, src.W, d), dst.W, dst.H, dst.Bounds())
		randomFlip(dst, d)
	case SegmentAugment:
		v := drawView(s, dst, src, d)
		v.Fill(dst, ignored, func(visible images.Plane, window images.Box) {
			images.Nearest(visible, src, src.Bounds(), v.W, v.H, window)
		})
		randomFlip(dst, d)
	case NoAugment:
		s.FitMask(dst, src)
	default:
		a.play(s, dst, src, d, true)
	}
}

// drawView draws a scale from 0.5 to 2, in units of the size that evaluation gives the
// picture, and its position in dst. It uses four draws.
func drawView(s images.Scaling, dst, src images.Plane, d *tensor.Draws) images.View {
	w, h := s.Size(dst, src)
	scale := d.Between(0.5, 2)
	v := images.View{
		W: max(1, int(float64(float64(w)*scale)+0.5)),
		H: max(1, int(float64(float64(h)*scale)+0.5)),
	}
	v.X, v.Y = offset(v.W-dst.W, d), offset(v.H-dst.H, d)
	return v
}

// offset draws from 0 to spare, or from spare to 0 if spare is negative.
func offset(spare int, d *tensor.Draws) int {
	if spare < 0 {
		return -d.Intn(-spare + 1)
	}
	return d.Intn(spare + 1)
}
