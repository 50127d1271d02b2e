package data

import (
	"bytes"
	"context"
	"image"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// Grid draws samples of a source into one picture, in the given number of columns. Each sample is scaled to
// fit into a square of side pixels, which has 2 grey pixels around it. Masks are drawn over their pictures.
func Grid(ctx context.Context, src Source, samples []int, columns, side int) (*image.RGBA, error) {
	info := src.Info()
	if err := drawable(info, columns, side); err != nil {
		return nil, err
	}
	g := newGrid(len(samples), columns, side, 0)
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
		g.draw(k, t)
	}
	return g.out, nil
}

// Thumbnail returns a picture, u8 [H,W,1 or 3], scaled so that its longer side is side pixels. It is enlarged
// at most eight times.
func Thumbnail(picture tensor.Tensor, side int) *image.RGBA {
	const most = 8
	fitted := fitInto(picture, min(side, most*max(picture.Shape[0], picture.Shape[1])))
	out := image.NewRGBA(image.Rect(0, 0, fitted.W, fitted.H))
	copy(out.Pix, bytes.Repeat([]byte{0, 0, 0, 0xff}, fitted.W*fitted.H))
	paste(out, fitted, 0, 0)
	return out
}

// Cells draws pictures, u8 [H,W,1 or 3], side by side, in the form of Grid.
func Cells(pictures []tensor.Tensor, side int) *image.RGBA {
	g := newGrid(len(pictures), len(pictures), side, 0)
	for k, t := range pictures {
		g.draw(k, t)
	}
	return g.out
}

// grid is a picture made of cells. Each cell is a square for a sample, with lines of text below it.
type grid struct {
	out                    *image.RGBA
	columns, side, caption int
}

// gap is the number of grey pixels around a cell.
const gap = 2

func newGrid(samples, columns, side, caption int) *grid {
	columns = min(columns, max(1, samples))
	rows := (samples + columns - 1) / columns
	g := &grid{columns: columns, side: side, caption: caption}
	g.out = image.NewRGBA(image.Rect(0, 0, columns*(side+gap)+gap, rows*(side+caption+gap)+gap))
	copy(g.out.Pix, bytes.Repeat([]byte{0x80, 0x80, 0x80, 0xff}, len(g.out.Pix)/4))
	return g
}

// corner returns the upper left corner of cell k.
func (g *grid) corner(k int) (x, y int) {
	return k%g.columns*(g.side+gap) + gap, k/g.columns*(g.side+g.caption+gap) + gap
}

// draw draws a sample into cell k.
func (g *grid) draw(k int, t tensor.Tensor) {
	fitted := fitInto(t, g.side)
	x, y := g.corner(k)
	paste(g.out, fitted, x+(g.side-fitted.W)/2, y+(g.side-fitted.H)/2)
}

// fitInto scales a picture so that its longer side is side.
func fitInto(t tensor.Tensor, side int) images.Plane {
	src := images.Plane{H: t.Shape[0], W: t.Shape[1], C: t.Shape[2], Pix: t.Bytes}
	longer := max(src.H, src.W)
	h, w := max(1, src.H*side/longer), max(1, src.W*side/longer)
	scaled := images.NewPlane(h, w, src.C)
	images.Resample(images.Bilinear, scaled, src, src.Bounds(), w, h, images.Box{X: 0, Y: 0, W: w, H: h})
	if src.C == 3 {
		return scaled
	}
	rgb := images.NewPlane(h, w, 3)
	images.Convert(rgb, scaled)
	return rgb
}

// paste copies RGB pixels into out at (x, y).
func paste(out *image.RGBA, src images.Plane, x, y int) {
	for row := range src.H {
		dst := out.Pix[out.PixOffset(x, y+row):]
		pixels := src.Row(row)
		for i := range src.W {
			copy(dst[4*i:4*i+3], pixels[3*i:])
		}
	}
}
