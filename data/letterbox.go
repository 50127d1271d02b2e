package data

// letterboxed is the colour of pixels beyond a picture in a letterbox: YOLOX's grey.
const letterboxed = 114

// contained returns the size of src in a letterbox: as large as fits into dst, rounded down, and at
// least one pixel.
func contained(dst, src plane) (w, h int) {
	if dst.w*src.h <= dst.h*src.w { // the width decides
		return dst.w, max(1, dst.w*src.h/src.w)
	}
	return max(1, dst.h*src.w/src.h), dst.h
}

// draw fills dst with a view of src. Pixels beyond the picture are black, or grey in a letterbox.
func (s scaling) draw(dst, src plane, v view) {
	beyond := byte(0)
	if s.letterbox {
		beyond = letterboxed
	}
	v.fill(dst, beyond, func(visible plane, window box) {
		resample(s.filter, visible, src, box{0, 0, src.w, src.h}, v.w, v.h, window)
	})
}

// whole returns the view of src that fit shows.
func (s scaling) whole(dst, src plane) view {
	w, h := s.size(dst, src)
	if s.letterbox {
		return view{w: w, h: h}
	}
	return view{w, h, middle(w - dst.w), middle(h - dst.h)}
}
