package data

import (
	"bytes"
	"context"
	"fmt"
	"image"

	"github.com/bnctl/bnctl/tensor"
)

// Grid draws samples of a source into one picture, columns in a row, each scaled to
// fit into a square of side pixels, with 2 grey pixels around it. Masks are drawn over
// their pictures.
func Grid(ctx context.Context, src Source, samples []int, columns, side int) (*image.RGBA, error) {
	const gap = 2
	info := src.Info()
	if !info.Pictures() {
		return nil, fmt.Errorf("the samples are %s, not pictures", tensor.Describe(info.DType, info.Shape))
	}
	if columns < 1 || side < 1 {
		return nil, fmt.Errorf("a grid of columns %d, side %d; want at least 1 and 1", columns, side)
	}
	columns = min(columns, max(1, len(samples)))
	rows := (len(samples) + columns - 1) / columns
	out := image.NewRGBA(image.Rect(0, 0, columns*(side+gap)+gap, rows*(side+gap)+gap))
	copy(out.Pix, bytes.Repeat([]byte{0x80, 0x80, 0x80, 0xff}, len(out.Pix)/4))
	for k, i := range samples {
		t, err := src.Sample(ctx, i)
		if err != nil {
			return nil, err
		}
		if info.Masks {
			mask, err := src.Label(ctx, i)
			if err != nil {
				return nil, err
			}
			t = Overlay(t, mask)
		}
		fitted := fitInto(t, side)
		x := k%columns*(side+gap) + gap + (side-fitted.w)/2
		y := k/columns*(side+gap) + gap + (side-fitted.h)/2
		paste(out, fitted, x, y)
	}
	return out, nil
}

// fitInto scales a picture so that its longer side is side.
func fitInto(t tensor.Tensor, side int) plane {
	src := plane{t.Shape[0], t.Shape[1], t.Shape[2], t.Bytes}
	longer := max(src.h, src.w)
	h, w := max(1, src.h*side/longer), max(1, src.w*side/longer)
	scaled := plane{h, w, src.c, make([]byte, h*w*src.c)}
	resample(Bilinear, scaled, src, box{0, 0, src.w, src.h}, w, h, box{0, 0, w, h})
	if src.c == 3 {
		return scaled
	}
	rgb := plane{h, w, 3, make([]byte, h*w*3)}
	convert(rgb, scaled)
	return rgb
}

// paste copies RGB pixels into out at (x, y).
func paste(out *image.RGBA, src plane, x, y int) {
	for row := range src.h {
		dst := out.Pix[out.PixOffset(x, y+row):]
		pixels := src.row(row)
		for i := range src.w {
			copy(dst[4*i:4*i+3], pixels[3*i:])
		}
	}
}
