package data

import "bytes"

// view is the part of a picture that a random scale and crop shows: the picture scaled to w
// x h, from (x, y) on. This point is left of or above the picture if the picture is
// smaller.
type view struct{ w, h, x, y int }

// fill fills dst with beyond outside the picture of the view. draw draws the rest, the
// given window of the scaled picture.
func (v view) fill(dst plane, beyond byte, draw func(visible plane, window box)) {
	window := box{max(v.x, 0), max(v.y, 0), min(v.w, dst.w), min(v.h, dst.h)}
	visible := plane{window.h, window.w, dst.c, dst.pix}
	if window.w == dst.w && window.h == dst.h {
		draw(visible, window)
		return
	}
	visible.pix = make([]byte, window.w*window.h*dst.c)
	draw(visible, window)
	copy(dst.pix, bytes.Repeat([]byte{beyond}, len(dst.pix)))
	for y := range window.h {
		copy(dst.row(y + max(-v.y, 0))[max(-v.x, 0)*dst.c:], visible.row(y))
	}
}
