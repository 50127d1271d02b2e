package data

import (
	"context"
	"errors"
	"fmt"
	"image"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// decode returns the classes of the pixels of a mask file, u8 [height, width]. A pixel without a class has
// the value ignored. Without a table of colours a stored pixel is used unchanged: an index into the palette,
// or a grey value of up to 8 bits.
func (c *maskCode) decode(ctx context.Context, file []byte) (t tensor.Tensor, err error) {
	defer stream.RecoverError(&err) // an index may be outside its palette
	img, bits, err := images.StoredPixels(ctx, file)
	if err != nil {
		return t, err
	}
	return c.classes(ctx, img, bits)
}

// classes returns the classes of the pixels of a decoded mask. bits is the number of bits per pixel in the
// file.
func (c *maskCode) classes(ctx context.Context, img image.Image, bits int) (tensor.Tensor, error) {
	b := img.Bounds()
	t := tensor.New(tensor.U8, b.Dy(), b.Dx())
	var of func(x, y int) (int16, error)
	switch m := img.(type) {
	case *image.Gray:
		one := byte(255 / (1<<bits - 1)) // the decoder has scaled values of fewer bits to 8 bits
		of = func(x, y int) (int16, error) {
			return c.classOfByte(m.Pix[m.PixOffset(x, y)]/one, grey(m.GrayAt(x, y).Y))
		}
	case *image.Paletted:
		of = func(x, y int) (int16, error) {
			return c.classOfByte(m.Pix[m.PixOffset(x, y)], func() [3]byte { return images.RgbOf(m.At(x, y)) })
		}
	case *image.RGBA: // the decoder returns this type for a PNG without alpha
		if !m.Opaque() {
			return t, alphaInMask()
		}
		if c.colours == nil {
			return t, problem.Advise("add a table of colours, masks:IMAGES,MASKS,TABLE, with a line "+
				"RED GREEN BLUE NAME for each class", "its pixels are colours, not class numbers")
		}
		of = func(x, y int) (int16, error) { return c.classOfColour(images.RgbOf(m.At(x, y))) }
	case *image.Gray16, *image.RGBA64:
		return t, errors.New("it has 16 bits a pixel; masks have 8 at most")
	default:
		return t, alphaInMask()
	}
	for i := range t.Bytes {
		x, y := i%b.Dx(), i/b.Dx()
		if x == 0 && ctx.Err() != nil {
			return t, context.Cause(ctx)
		}
		class, err := of(b.Min.X+x, b.Min.Y+y)
		if err != nil {
			return t, fmt.Errorf("pixel %d, %d %w", x, y, err)
		}
		t.Bytes[i] = byte(class) // noClass becomes ignored
	}
	return t, nil
}

func alphaInMask() error {
	return problem.Advise("save it without", "it has an alpha channel, so that pixels may be of two classes")
}

// classOfByte returns the class of a pixel that is stored as a byte. It is the class of the byte or, with a
// table of colours, of the colour that the byte represents.
func (c *maskCode) classOfByte(v byte, colour func() [3]byte) (int16, error) {
	if c.colours != nil {
		return c.classOfColour(colour())
	}
	return c.classOfValue(v)
}

func grey(v byte) func() [3]byte { return func() [3]byte { return [3]byte{v, v, v} } }
