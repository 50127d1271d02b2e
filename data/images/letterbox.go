package images

// letterboxed is the grey of pixels outside of the picture in a letterbox, as in YOLOX.
const letterboxed = 114

// contained returns the size of src in a letterbox of dst's size. It is the largest size that fits into dst,
// rounded down, and at least one pixel.
func contained(dst, src Plane) (w, h int) {
	if dst.W*src.H <= dst.H*src.W { // the width decides the scale
		return dst.W, max(1, dst.W*src.H/src.W)
	}
	return max(1, dst.H*src.W/src.H), dst.H
}

// Draw fills dst with a view of src. Pixels beyond the picture are black, or grey in a letterbox.
func (s Scaling) Draw(dst, src Plane, v View) {
	beyond := byte(0)
	if s.Letterbox {
		beyond = letterboxed
	}
	v.Fill(dst, beyond, func(visible Plane, window Box) {
		Resample(s.Filter, visible, src, src.Bounds(), v.W, v.H, window)
	})
}

// Whole returns the view of src that Fit shows.
func (s Scaling) Whole(dst, src Plane) View {
	w, h := s.Size(dst, src)
	if s.Letterbox {
		return View{W: w, H: h}
	}
	return View{w, h, middle(w - dst.W), middle(h - dst.H)}
}
