package data

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/tensor"
)

// Preview defines a picture that shows samples. If IsTraining is set, it shows the first Count samples that
// training with this seed uses, augmented and with their labels. Otherwise it shows the first Count samples
// of the source unchanged.
type Preview struct {
	IsTraining           bool // shows augmented pictures as in training
	Augment              augmentation.Augmentation
	Seed                 uint64
	Count, Columns, Side int // as in Grid
}

// Draw returns a picture that shows samples of a source, and the number of samples shown. If pictures of
// several sizes are augmented, they are first scaled to Side x Side.
func (p Preview) Draw(ctx context.Context, src Source) (*image.RGBA, int, error) {
	info := src.Info()
	n := min(p.Count, info.Len)
	if !p.IsTraining {
		out, err := Grid(ctx, src, inOrder(n), p.Columns, p.Side)
		return out, n, err
	}
	augment := p.Augment
	if err := drawable(info, p.Columns, p.Side); err != nil {
		return nil, 0, err
	}
	t := Transform{Augment: augment}
	if info.Shape == nil {
		t.Height, t.Width = p.Side, p.Side
	}
	l, err := NewLoader(ctx, src, Plan{Batch: n, Seed: p.Seed, Shuffle: true, Transform: t, Epochs: 1})
	if err != nil {
		return nil, 0, err
	}
	defer l.Close()
	b, err := l.Next()
	if err != nil {
		return nil, 0, err
	}
	lines := 0
	if info.Labelled && b.perLabel == 1 {
		if lines = 1; augment.Mixes() {
			lines = 2
		}
	}
	g := newGrid(n, p.Columns, p.Side, lines*captionHeight)
	for row := range n {
		x := b.row(row)
		if info.Masks {
			x = Overlay(x, b.Labels.I32()[row*b.perLabel:(row+1)*b.perLabel])
		}
		g.draw(row, x)
		if lines > 0 {
			g.write(row, 0, className(info, b.Labels.I32()[row])+ofFraction(b.Fraction, lines))
		}
		if lines > 1 {
			g.write(row, 1, className(info, b.Partners.I32()[row])+ofFraction(1-b.Fraction, lines))
		}
	}
	return g.out, n, nil
}

// drawable returns an error for data that a grid cannot show.
func drawable(info Info, columns, side int) error {
	if !info.Pictures() {
		return fmt.Errorf("the samples are %s, not pictures", tensor.Describe(info.DType, info.Shape))
	}
	if columns < 1 || side < 1 {
		return fmt.Errorf("a grid of columns %d, side %d; want at least 1 and 1", columns, side)
	}
	return nil
}

// ofFraction returns the share that a label has in a mixed picture, as text.
func ofFraction(fraction float32, lines int) string {
	if lines < 2 {
		return ""
	}
	return fmt.Sprintf(" %.0f%%", 100*fraction)
}

// captionHeight is the height of a line of text, in pixels.
const captionHeight = 14

var captionFace = sync.OnceValue(func() font.Face {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic("data: a font of the binary: " + err.Error())
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: 11, DPI: 72})
	if err != nil {
		panic("data: a font of the binary: " + err.Error())
	}
	return face
})

// write writes a line of text below sample k. The text is cut where the cell ends.
func (g *grid) write(k, line int, text string) {
	x, y := g.corner(k)
	cell := image.Rect(x, y+g.side, x+g.side, y+g.side+g.caption)
	below := g.out.SubImage(cell).(*image.RGBA)
	d := font.Drawer{Dst: below, Src: image.NewUniform(color.White), Face: captionFace(),
		Dot: fixed.P(x, y+g.side+line*captionHeight+captionHeight-3)}
	d.DrawString(text)
}
