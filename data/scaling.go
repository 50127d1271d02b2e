package data

// scaling is a method to scale pictures to the size that a model accepts.
type scaling struct {
	// resize is the length in pixels of the shorter side after scaling, before the centre crop. Zero
	// scales to the smallest size that covers the result, and not at all if it fits.
	resize int
	filter Filter
	// letterbox scales a picture until it fits, at the upper left corner. resize must be 0.
	letterbox bool
}

// fit scales src and crops its middle.
func (s scaling) fit(dst, src plane) {
	w, h := s.size(dst, src)
	if s.letterbox {
		s.draw(dst, src, view{w: w, h: h})
		return
	}
	if w == src.w && h == src.h {
		x, y := middle(w-dst.w), middle(h-dst.h)
		for row := range dst.h {
			copy(dst.row(row), src.row(y + row)[x*src.c:])
		}
		return
	}
	resample(s.filter, dst, src, box{0, 0, src.w, src.h}, w, h, centre(dst, w, h))
}

// fitMask is fit for a mask.
func (s scaling) fitMask(dst, src plane) {
	w, h := s.size(dst, src)
	nearest(dst, src, box{0, 0, src.w, src.h}, w, h, centre(dst, w, h))
}

// reduced returns the reduction of src to dst that fit makes.
func (s scaling) reduced(dst, src plane) *reduction {
	w, h := s.size(dst, src)
	return newReduction(s.filter, dst, src, w, h, centre(dst, w, h))
}

// size returns the width and height of src before the crop. A longer side is
// rounded down, as in torchvision, but never below the crop's.
func (s scaling) size(dst, src plane) (w, h int) {
	if s.letterbox {
		return contained(dst, src)
	}
	if s.resize != 0 {
		if src.w <= src.h {
			return s.resize, s.resize * src.h / src.w
		}
		return s.resize * src.w / src.h, s.resize
	}
	if dst.w*src.h >= dst.h*src.w { // the width decides
		return dst.w, dst.w * src.h / src.w
	}
	return dst.h * src.w / src.h, dst.h
}

// centre returns the part of dst's size in the middle of a picture of w x h pixels.
func centre(dst plane, w, h int) box { return box{middle(w - dst.w), middle(h - dst.h), dst.w, dst.h} }

// middle returns half of the excess pixels, rounded half to even as in torchvision.
func middle(spare int) int {
	if spare%4 == 3 {
		return spare/2 + 1
	}
	return spare / 2
}
