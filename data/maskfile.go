package data

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"golang.org/x/image/bmp"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// pngBits is the offset of the number of bits per sample in a PNG file, in its first chunk.
const pngBits = 24

// maskFormats lists the formats of masks.
const maskFormats = "PNG, GIF, BMP, TIFF or PGM"

// decode returns the classes of the pixels of a file, u8 [height, width]; ignored means no
// class. Without a table of colours a pixel is used as stored: an index into the palette,
// or a grey value of up to 8 bits.
func (c *maskCode) decode(ctx context.Context, file []byte) (t tensor.Tensor, err error) {
	codec, err := codecOf(file)
	if err != nil {
		return t, err
	}
	name := codecs[codec].name
	tags, _ := openDirectory(file)
	switch {
	case name == "JPEG", name == "TIFF" && tags.inJPEG():
		return t, problem.Advise("save it as PNG",
			"it is a JPEG, whose compression changes pixels, and with them classes")
	case name == "WebP" || name == "PPM":
		return t, fmt.Errorf("it is a %s; masks are %s", name, maskFormats)
	}
	h, w, err := pictureSize(ctx, file, false)
	if err != nil {
		return t, err
	}
	defer recoverError(&err)
	if err := checkSize(file, name, h, w); err != nil {
		return t, err
	}
	img, bits, err := decodeMask(ctx, file, name)
	if err != nil {
		return t, cutShort(err)
	}
	return c.classes(ctx, img, bits)
}

// decodeMask returns the stored pixels of a file in a format, and the number of bits per
// sample.
func decodeMask(ctx context.Context, file []byte, format string) (img image.Image, bits int, err error) {
	switch format {
	case "PNG":
		img, err = png.Decode(withContext(ctx, file))
		return img, int(file[pngBits]), err
	case "GIF":
		img, err = firstOfGIF(ctx, file)
	case "BMP":
		img, err = bmp.Decode(withContext(ctx, file))
	case "TIFF":
		d, _ := openDirectory(file)
		img, err = decodeTIFF(ctx, file)
		return img, d.number(tiffBits, 1), err
	case "PGM":
		img, err = greyOfNetpbm(file)
	}
	return img, 8, err
}

// classes returns the classes of a decoded picture; bits is its depth.
func (c *maskCode) classes(ctx context.Context, img image.Image, bits int) (tensor.Tensor, error) {
	b := img.Bounds()
	t := tensor.New(tensor.U8, b.Dy(), b.Dx())
	var of func(x, y int) (int16, error)
	switch m := img.(type) {
	case *image.Gray:
		one := byte(255 / (1<<bits - 1)) // values of fewer bits are scaled to 8 bits
		of = func(x, y int) (int16, error) {
			return c.classOfByte(m.Pix[m.PixOffset(x, y)]/one, grey(m.GrayAt(x, y).Y))
		}
	case *image.Paletted:
		of = func(x, y int) (int16, error) {
			return c.classOfByte(m.Pix[m.PixOffset(x, y)], func() [3]byte { return rgbOf(m.At(x, y)) })
		}
	case *image.RGBA: // PNG has no alpha in this case
		if !m.Opaque() {
			return t, alphaInMask()
		}
		if c.colours == nil {
			return t, problem.Advise("add a table of colours, masks:IMAGES,MASKS,TABLE, with a line "+
				"RED GREEN BLUE NAME for each class", "its pixels are colours, not class numbers")
		}
		of = func(x, y int) (int16, error) { return c.classOfColour(rgbOf(m.At(x, y))) }
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
		t.Bytes[i] = byte(class) // noClass is ignored
	}
	return t, nil
}

func alphaInMask() error {
	return problem.Advise("save it without", "it has an alpha channel, so that pixels may be of two classes")
}

// classOfByte returns the class of a pixel that is stored as a byte: the class of the
// value, or of the byte's colour if there is a table of colours.
func (c *maskCode) classOfByte(v byte, colour func() [3]byte) (int16, error) {
	if c.colours != nil {
		return c.classOfColour(colour())
	}
	return c.classOfValue(v)
}

func grey(v byte) func() [3]byte { return func() [3]byte { return [3]byte{v, v, v} } }

func rgbOf(c color.Color) [3]byte {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return [3]byte{n.R, n.G, n.B}
}
