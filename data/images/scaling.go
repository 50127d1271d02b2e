package images

import "context"

// Scaling states how a picture is scaled to the size that a model accepts.
type Scaling struct {
	// Resize is the length in pixels of the shorter side after scaling, before the centre crop. 0 means the
	// smallest size that covers the result; then a picture that already has the size of the result is not
	// scaled.
	Resize int
	Filter Filter
	// Letterbox scales a picture until it fits into the result, and places it at the upper left corner. Resize
	// must be 0.
	Letterbox bool
}

// Fit scales src, and copies its middle to dst.
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

// FitMask is like Fit, for a mask: it scales by the nearest pixel.
func (s Scaling) FitMask(dst, src Plane) {
	w, h := s.Size(dst, src)
	Nearest(dst, src, src.Bounds(), w, h, centre(dst, w, h))
}

// Decode writes the picture of a file to dst, with the same result as Fit. It scales rows while they are
// decoded. src has only the size of the picture.
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

// Reduction returns a Reduction of src to that part of dst which shows src. It gives the same pixels as Fit.
func (s Scaling) Reduction(dst, src Plane) *Reduction {
	w, h := s.Size(dst, src)
	if s.Letterbox {
		return newReduction(s.Filter, Plane{h, w, dst.C, dst.Pix}, src, w, h, Box{0, 0, w, h})
	}
	return newReduction(s.Filter, dst, src, w, h, centre(dst, w, h))
}

// Size returns the width and height of the scaled src before the crop. The longer side is rounded down, as in
// torchvision, but it is never less than the crop's.
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
	if dst.W*src.H >= dst.H*src.W { // the width decides the scale
		return dst.W, dst.W * src.H / src.W
	}
	return dst.H * src.W / src.H, dst.H
}

// centre returns the middle part, of dst's size, of a picture of w x h pixels.
func centre(dst Plane, w, h int) Box { return Box{middle(w - dst.W), middle(h - dst.H), dst.W, dst.H} }

// middle returns half of spare, the excess pixels, rounded half to even as in torchvision.
func middle(spare int) int {
	if spare%4 == 3 {
		return spare/2 + 1
	}
	return spare / 2
}
