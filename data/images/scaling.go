package images

import "context"

// Scaling is a method to scale pictures to the size that a model accepts.
type Scaling struct {
	// Resize is the length in pixels of the shorter side after scaling, before the centre crop. 0 means
	// the smallest size that covers the result; a picture of this size is not scaled.
	Resize int
	Filter Filter
	// Letterbox scales a picture until it fits, at the upper left corner. Resize must be 0.
	Letterbox bool
}

// Fit scales src and crops its middle.
func (s Scaling) Fit(dst, src Plane) {
	w, h := s.Size(dst, src)
	if s.Letterbox {
		s.Draw(dst, src, View{W: w, H: h})
		return
	}
	if w == src.W && h == src.H {
		x, y := middle(w-dst.W), middle(h-dst.H)
		for row := range dst.H {
			copy(dst.Row(row), src.Row(y + row)[x*src.C:])
		}
		return
	}
	Resample(s.Filter, dst, src, src.Bounds(), w, h, centre(dst, w, h))
}

// FitMask does the same as Fit for a mask: it scales by the nearest pixel.
func (s Scaling) FitMask(dst, src Plane) {
	w, h := s.Size(dst, src)
	Nearest(dst, src, src.Bounds(), w, h, centre(dst, w, h))
}

// Decode writes the picture of a file to dst as Fit does, and scales while rows are decoded. src has only
// the size of the picture.
func (s Scaling) Decode(ctx context.Context, f *File, dst, src Plane) (err error) {
	if !s.Letterbox {
		return s.Reduction(dst, src).Decode(ctx, f)
	}
	w, h := s.Size(dst, src)
	View{W: w, H: h}.Fill(dst, letterboxed, func(visible Plane, _ Box) {
		err = newReduction(s.Filter, visible, src, w, h, visible.Bounds()).Decode(ctx, f)
	})
	return err
}

// Reduction returns a Reduction of src to the part of dst that shows src. Its pixels are those of Fit.
func (s Scaling) Reduction(dst, src Plane) *Reduction {
	w, h := s.Size(dst, src)
	if s.Letterbox {
		return newReduction(s.Filter, Plane{h, w, dst.C, dst.Pix}, src, w, h, Box{0, 0, w, h})
	}
	return newReduction(s.Filter, dst, src, w, h, centre(dst, w, h))
}

// Size returns the width and height of src before the crop. A longer side is
// rounded down, as in torchvision, but never below the crop's.
func (s Scaling) Size(dst, src Plane) (w, h int) {
	if s.Letterbox {
		return contained(dst, src)
	}
	if s.Resize != 0 {
		if src.W <= src.H {
			return s.Resize, s.Resize * src.H / src.W
		}
		return s.Resize * src.W / src.H, s.Resize
	}
	if dst.W*src.H >= dst.H*src.W { // the width decides how far to scale
		return dst.W, dst.W * src.H / src.W
	}
	return dst.H * src.W / src.H, dst.H
}

// centre returns the part of dst's size in the middle of a picture of w x h pixels.
func centre(dst Plane, w, h int) Box { return Box{middle(w - dst.W), middle(h - dst.H), dst.W, dst.H} }

// middle returns half of the excess pixels, rounded half to even as in torchvision.
func middle(spare int) int {
	if spare%4 == 3 {
		return spare/2 + 1
	}
	return spare / 2
}
