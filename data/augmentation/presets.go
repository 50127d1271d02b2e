package augmentation

import (
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// Ignored is the value for -1, no class, in a mask that is being transformed.
const Ignored = 255

// Apply makes dst from src. Both have the same number of channels. s scales pictures for augmentations that
// do not crop.
func (a Augmentation) Apply(s images.Scaling, dst, src images.Plane, d *tensor.Draws) {
	switch {
	case a.preset == cifar:
		if src.H != dst.H || src.W != dst.W || s.Resize != 0 {
			fitted := images.NewPlane(dst.H, dst.W, dst.C)
			s.Fit(fitted, src)
			src = fitted
		}
		padCrop(dst, src, 0, d)
		randomFlip(dst, d)
	case a.preset == imageNet:
		images.Resample(s.Filter, dst, src, randomCrop(src.H, src.W, d), dst.W, dst.H, dst.Bounds())
		randomFlip(dst, d)
	case a.preset == segment:
		s.Draw(dst, src, DrawView(s, dst, src, d))
		randomFlip(dst, d)
		jitter(dst, d)
	case a.IsNone():
		s.Fit(dst, src)
	default:
		a.play(s, dst, src, d, false)
	}
}

// ApplyMask is like Apply, for the mask of a picture.
func (a Augmentation) ApplyMask(s images.Scaling, dst, src images.Plane, d *tensor.Draws) {
	switch {
	case a.preset == cifar:
		fitted := images.NewPlane(dst.H, dst.W, 1)
		s.FitMask(fitted, src)
		padCrop(dst, fitted, Ignored, d)
		randomFlip(dst, d)
	case a.preset == imageNet:
		images.Nearest(dst, src, randomCrop(src.H, src.W, d), dst.W, dst.H, dst.Bounds())
		randomFlip(dst, d)
	case a.preset == segment:
		v := DrawView(s, dst, src, d)
		v.Fill(dst, Ignored, func(visible images.Plane, window images.Box) {
			images.Nearest(visible, src, src.Bounds(), v.W, v.H, window)
		})
		randomFlip(dst, d)
	case a.IsNone():
		s.FitMask(dst, src)
	default:
		a.play(s, dst, src, d, true)
	}
}

// DrawView draws a scale from 0.5 to 2, relative to the size that the picture has in evaluation, and the
// position of dst in the scaled picture. It uses four draws.
func DrawView(s images.Scaling, dst, src images.Plane, d *tensor.Draws) images.View {
	w, h := s.Size(dst, src)
	scale := d.Between(0.5, 2)
	v := images.View{
		W: max(1, int(float64(float64(w)*scale)+0.5)),
		H: max(1, int(float64(float64(h)*scale)+0.5)),
	}
	v.X, v.Y = offset(v.W-dst.W, d), offset(v.H-dst.H, d)
	return v
}

// offset draws a number from 0 to spare, or from spare to 0 if spare is negative.
func offset(spare int, d *tensor.Draws) int {
	if spare < 0 {
		return -d.Intn(-spare + 1)
	}
	return d.Intn(spare + 1)
}
