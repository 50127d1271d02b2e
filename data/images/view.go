package images

import "bytes"

// View is the part of a picture that a random scale and crop shows: the picture scaled to w
// x h, from (x, y) on. This point is left of or above the picture if the picture is
// smaller.
type View struct{ W, H, X, Y int }

// Fill fills dst with beyond outside the picture of the view. draw draws the rest, the
// given window of the scaled picture.
func (v View) Fill(dst Plane, beyond byte, draw func(visible Plane, window Box)) {
	window := Box{max(v.X, 0), max(v.Y, 0), min(v.W, dst.W), min(v.H, dst.H)}
	visible := Plane{window.H, window.W, dst.C, dst.Pix}
	if window.W == dst.W && window.H == dst.H {
		draw(visible, window)
		return
	}
	visible.Pix = make([]byte, window.W*window.H*dst.C)
	draw(visible, window)
	copy(dst.Pix, bytes.Repeat([]byte{beyond}, len(dst.Pix)))
	for y := range window.H {
		copy(dst.Row(y + max(-v.Y, 0))[max(-v.X, 0)*dst.C:], visible.Row(y))
	}
}
