package objects

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/tensor"
)

// Outline is a box to draw, in pixels of the picture, with a caption above it.
type Outline struct {
	Box   Box
	Class int // selects the colour
	Text  string
}

// Draw returns a picture, u8 [height, width, 3], with boxes and their captions drawn over it.
func Draw(picture tensor.Tensor, boxes []Outline) *image.RGBA {
	h, w := picture.Shape[0], picture.Shape[1]
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range h * w {
		copy(out.Pix[4*i:4*i+3], picture.Bytes[3*i:3*i+3])
		out.Pix[4*i+3] = 0xff
	}
	for _, b := range boxes {
		frame(out, b.Box, ColourOf(b.Class), max(1, min(h, w)/200))
	}
	for _, b := range boxes {
		caption(out, b)
	}
	return out
}

// ColourOf returns the colour of a class: VOC's colours, except black.
func ColourOf(class int) color.RGBA {
	return data.MaskPalette[1+class%254].(color.RGBA)
}

// frame draws the outline of a box. The lines are inside of the box.
func frame(out *image.RGBA, b Box, c color.RGBA, thickness int) {
	x1, y1 := int(math.Floor(b.X1)), int(math.Floor(b.Y1))
	x2, y2 := int(math.Ceil(b.X2)), int(math.Ceil(b.Y2))
	for _, edge := range []image.Rectangle{
		image.Rect(x1, y1, x2, y1+thickness), image.Rect(x1, y2-thickness, x2, y2),
		image.Rect(x1, y1, x1+thickness, y2), image.Rect(x2-thickness, y1, x2, y2),
	} {
		draw.Draw(out, edge.Intersect(out.Bounds()), image.NewUniform(c), image.Point{}, draw.Src)
	}
}

// captionSize is the size of the font of captions, in pixels.
const captionSize = 13

var captionFace = sync.OnceValues(func() (font.Face, error) {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	return opentype.NewFace(f, &opentype.FaceOptions{Size: captionSize, DPI: 72, Hinting: font.HintingFull})
})

// captionMutex must be locked while captionFace draws, because a face has an internal buffer.
var captionMutex sync.Mutex

// caption writes the text of a box above it, on the box's colour. At the upper edge of the picture the text
// is inside of the box.
func caption(out *image.RGBA, b Outline) {
	face, err := captionFace()
	if err != nil || b.Text == "" {
		return
	}
	captionMutex.Lock()
	defer captionMutex.Unlock()
	const height = captionSize + 2
	x := max(0, int(b.Box.X1))
	y := int(b.Box.Y1) - height
	if y < 0 {
		y = max(0, int(b.Box.Y1))
	}
	c := ColourOf(b.Class)
	width := font.MeasureString(face, b.Text).Ceil() + 4
	back := image.Rect(x, y, x+width, y+height).Intersect(out.Bounds())
	draw.Draw(out, back, image.NewUniform(c), image.Point{}, draw.Src)
	ink := color.Color(color.White)
	if 299*int(c.R)+587*int(c.G)+114*int(c.B) > 128_000 {
		ink = color.Black
	}
	d := font.Drawer{Dst: out, Src: image.NewUniform(ink), Face: face, Dot: fixed.P(x+2, y+captionSize-1)}
	d.DrawString(b.Text)
}

// Overview draws the first pictures of a set in columns, each picture scaled to fit into a square
// of side pixels, with their boxes. It also returns the number of pictures.
func Overview(ctx context.Context, s *Set, count, columns, side int) (*image.RGBA, int, error) {
	const gap = 2
	n := min(count, len(s.Pictures))
	columns = max(1, min(columns, n))
	rows := (n + columns - 1) / columns
	out := image.NewRGBA(image.Rect(0, 0, columns*(side+gap)+gap, rows*(side+gap)+gap))
	draw.Draw(out, out.Bounds(), image.NewUniform(color.Gray{0x80}), image.Point{}, draw.Src)
	for i := range n {
		picture, err := s.Decode(ctx, i)
		if err != nil {
			return nil, 0, err
		}
		small := data.Thumbnail(picture, side)
		scale := float64(small.Rect.Dx()) / float64(picture.Shape[1])
		for _, o := range s.Pictures[i].Objects {
			frame(small, o.Box.Scale(scale), ColourOf(o.Class), 1)
		}
		at := image.Pt(i%columns*(side+gap)+gap+(side-small.Rect.Dx())/2,
			i/columns*(side+gap)+gap+(side-small.Rect.Dy())/2)
		draw.Draw(out, small.Rect.Add(at), small, image.Point{}, draw.Src)
	}
	return out, n, nil
}
