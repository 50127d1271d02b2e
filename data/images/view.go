package images

import "bytes"

// View is the part of a picture that a random scale and crop shows. The picture is scaled to W x H pixels,
// and shown from point (X, Y) on. If the scaled picture is smaller than the result, X or Y is negative.
type View struct{ W, H, X, Y int }

// Fill fills dst with the view. Pixels outside of the picture get the value border. For the rest, Fill calls
// draw with the visible part of dst and with the part of the scaled picture to draw (window).
func (v View) Fill(dst Plane, border byte, draw func(visible Plane, window Box)) {
	window := Box{max(v.X, 0), max(v.Y, 0), min(v.W, dst.W), min(v.H, dst.H)}
	visible := Plane{window.H, window.W, dst.C, dst.Pix}
	if window.W == dst.W && window.H == dst.H {
		draw(visible, window)
		return
	}
	visible.Pix = make([]byte, window.W*window.H*dst.C)
	draw(visible, window)
	copy(dst.Pix, bytes.Repeat([]byte{border}, len(dst.Pix)))
	for y := range window.H {
		copy(dst.Row(y + max(-v.Y, 0))[max(-v.X, 0)*dst.C:], visible.Row(y))
	}
}
