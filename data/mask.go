package data

import (
	"bytes"
	"fmt"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// MaskClasses is the largest number of classes of masks.
const MaskClasses = 255

// ignored represents -1 in a mask that is being transformed: no class.
const ignored = 255

// labelShape returns the shape of the label of a transformed sample: height and width if
// labels are masks, which have the size of their pictures; otherwise the source's label
// shape. shape is the result of Transform.Shape.
func labelShape(info Info, shape []int) []int {
	if info.Masks {
		return shape[:2]
	}
	return info.LabelShape
}

// ApplyMask writes the mask of a picture to dst, which has h x w labels, the size that
// Transform.Shape returns. It scales by nearest, and crops and turns the mask as Apply does
// the picture with the same draws. Labels outside the picture are -1, and so are labels of
// -1. It is an error if label is not a mask of this picture.
func (t Transform) ApplyMask(dst, label []int32, h, w int, picture tensor.Tensor, d *tensor.Draws) error {
	src := plane{picture.Shape[0], picture.Shape[1], 1, make([]byte, len(label))}
	if len(label) != src.h*src.w {
		return fmt.Errorf("a mask of %s for a picture of %d x %d", problem.Plural(len(label), "pixel"),
			src.w, src.h)
	}
	for i, class := range label {
		src.pix[i] = byte(class) // -1 becomes 255
	}
	out := plane{h, w, 1, make([]byte, h*w)}
	t.placeMask(out, src, d)
	for i, class := range out.pix {
		if dst[i] = int32(class); class == ignored {
			dst[i] = -1
		}
	}
	return nil
}

// placeMask is augment for a mask.
func (t Transform) placeMask(dst, src plane, d *tensor.Draws) {
	switch t.Augment {
	case CIFARAugment:
		fitted := plane{dst.h, dst.w, 1, make([]byte, len(dst.pix))}
		t.fitMask(fitted, src)
		padCrop(dst, fitted, ignored, d)
		randomFlip(dst, d)
	case ImageNetAugment:
		nearest(dst, src, randomCrop(src.h, src.w, d), dst.w, dst.h, box{0, 0, dst.w, dst.h})
		randomFlip(dst, d)
	case SegmentAugment:
		v := t.drawView(dst, src, d)
		v.fill(dst, ignored, func(visible plane, window box) {
			nearest(visible, src, box{0, 0, src.w, src.h}, v.w, v.h, window)
		})
		randomFlip(dst, d)
	case NoAugment:
		t.fitMask(dst, src)
	default:
		t.play(dst, src, d, true)
	}
}

// fitMask is fit for a mask.
func (t Transform) fitMask(dst, src plane) {
	w, h := t.scaled(dst, src)
	nearest(dst, src, box{0, 0, src.w, src.h}, w, h, box{middle(w - dst.w), middle(h - dst.h), dst.w, dst.h})
}

// view is the part of a picture that a random scale and crop shows: the picture scaled to w
// x h, from (x, y) on. This point is left of or above the picture if the picture is
// smaller.
type view struct{ w, h, x, y int }

// drawView draws a scale from 0.5 to 2, in units of the size that evaluation gives the
// picture, and its position in dst. It uses four draws.
func (t Transform) drawView(dst, src plane, d *tensor.Draws) view {
	w, h := t.scaled(dst, src)
	scale := d.Between(0.5, 2)
	v := view{w: max(1, int(float64(float64(w)*scale)+0.5)), h: max(1, int(float64(float64(h)*scale)+0.5))}
	v.x, v.y = offset(v.w-dst.w, d), offset(v.h-dst.h, d)
	return v
}

// offset draws from 0 to spare, or from spare to 0 if spare is negative.
func offset(spare int, d *tensor.Draws) int {
	if spare < 0 {
		return -d.Intn(-spare + 1)
	}
	return d.Intn(spare + 1)
}

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
