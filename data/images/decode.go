package images

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"path"
	"slices"
	"strings"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"

	"github.com/bnctl/bnctl/data/internal/jpeg"
	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/tensor"
)

// decoder is a function that calls each with the rows of a file, one by one, as they are decoded.
type decoder func(ctx context.Context, file []byte, each eachPixels) error

// eachPixels is called for each row of a file, starting with the first, with its pixels in
// RGB. They are valid until it returns.
type eachPixels func(y int, pixels []byte)

// codecs is the table of picture formats, identified by the first bytes of a file.
var codecs = []struct {
	name   string
	begins string // first bytes of a file; ? matches any byte
	size   func(ctx context.Context, file []byte) (height, width int, err error)
	rows   decoder
}{
	{"JPEG", "\xff\xd8\xff", jpeg.Size, rowsOfJPEG},
	{"PNG", "\x89PNG\r\n\x1a\n", sizeBy(png.DecodeConfig), rowsOfPNG},
	{"WebP", "RIFF????WEBPVP8", sizeBy(webp.DecodeConfig), rowsOfWebP},
	{"BMP", "BM????\x00\x00\x00\x00", sizeBy(bmp.DecodeConfig), rowsBy(bmp.Decode)},
	{"TIFF", "II\x2a\x00", sizeOfTIFF, rowsOfTIFF},
	{"TIFF", "MM\x00\x2a", sizeOfTIFF, rowsOfTIFF},
	{"GIF", "GIF8?a", sizeOfGIF, rowsOfGIF},
	{"PGM", "P2", sizeOfNetpbm, rowsOfNetpbm},
	{"PPM", "P3", sizeOfNetpbm, rowsOfNetpbm},
	{"PGM", "P5", sizeOfNetpbm, rowsOfNetpbm},
	{"PPM", "P6", sizeOfNetpbm, rowsOfNetpbm},
}

// knownPictures lists the names of the formats, for messages.
const knownPictures = "JPEG, PNG, WebP, GIF, BMP, TIFF, PPM or PGM"

func sizeBy(config func(io.Reader) (image.Config, error)) func(context.Context, []byte) (int, int, error) {
	return func(ctx context.Context, file []byte) (height, width int, err error) {
		c, err := config(stream.NewFile(ctx, file))
		return c.Height, c.Width, err
	}
}

func rowsBy(decode func(io.Reader) (image.Image, error)) decoder {
	return func(ctx context.Context, file []byte, each eachPixels) error {
		img, err := decode(stream.NewFile(ctx, file))
		if err != nil {
			return err
		}
		return rowsOfImage(ctx, img, each)
	}
}

// Extensions are the extensions that a file must have to count as a picture in folders and archives. The
// content of the file determines its format.
var Extensions = []string{".jpg", ".jpeg", ".jfif", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff",
	".ppm", ".pgm", ".pnm"}

// IsFileName reports whether a file name has the extension of a picture.
func IsFileName(name string) bool {
	return slices.Contains(Extensions, strings.ToLower(path.Ext(name)))
}

// DecoderVersion is a number that changes whenever the decoded pixels of picture files change. It is part of
// the fingerprints of their sources, and of recipes. Recipes of version 1 do not have the number. Version 1
// replicated the chroma of JPEGs, and decoded lossy WebP with JPEG's colours.
const DecoderVersion = "2"

// Size returns the height and width that the picture of Decode would have, according to the file's headers.
// If ctx ends, it soon returns an error.
func Size(ctx context.Context, file []byte, exif bool) (h, w int, err error) {
	codec, err := codecOf(file)
	if err != nil {
		return 0, 0, err
	}
	defer stream.RecoverError(&err)
	h, w, err = codecs[codec].size(ctx, file)
	if err := stream.ContextErr(ctx); err != nil {
		return 0, 0, err
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", codecs[codec].name, stream.CutShort(err))
	}
	if w <= 0 || h <= 0 || w > maxPixels/h {
		return 0, 0, fmt.Errorf("%s of %d x %d pixels; at most %d pixels are decoded", codecs[codec].name,
			w, h, maxPixels)
	}
	if exif && orientation(file, codecs[codec].name) > 4 {
		h, w = w, h
	}
	return h, w, nil
}

// Decode returns the picture of a file in RGB, u8 [height, width, 3]. If the file has several pictures, it
// returns the first. The format must be one of codecs. Grey, palette and CMYK become RGB, 16 bits become 8,
// and transparency is ignored. The pixels equal Pillow 9.4's. The size is checked before anything is
// decoded. If exif is set, the picture is turned by the file's EXIF orientation, which Pillow and torchvision
// do not do by default. If ctx ends, Decode returns an error within a second, except for a WebP file with
// tens of millions of pixels.
func Decode(ctx context.Context, file []byte, exif bool) (t tensor.Tensor, err error) {
	f, err := Open(ctx, file, exif)
	if err != nil {
		return tensor.Tensor{}, err
	}
	h, w := f.Size()
	t = tensor.New(tensor.U8, h, w, 3)
	picture := Plane{h, w, 3, t.Bytes}
	if err := f.eachRow(ctx, func(y int, pixels []byte) { f.writeRow(picture, y, pixels) }); err != nil {
		return tensor.Tensor{}, err
	}
	return t, nil
}

// FormatOf returns the name of the format of a picture file.
func FormatOf(file []byte) (string, error) {
	codec, err := codecOf(file)
	if err != nil {
		return "", err
	}
	return codecs[codec].name, nil
}

// codecOf returns the index in codecs of a file's format.
func codecOf(file []byte) (int, error) {
	for i, c := range codecs {
		if begins(file, c.begins) {
			return i, nil
		}
	}
	if len(file) == 0 {
		return 0, errors.New("the file is empty")
	}
	return 0, errors.New("this is not a " + knownPictures + " picture")
}

func begins(file []byte, pattern string) bool {
	if len(file) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] != '?' && pattern[i] != file[i] {
			return false
		}
	}
	return true
}

// rowsOfImage calls visit with each row of img.
func rowsOfImage(ctx context.Context, img image.Image, visit eachPixels) error {
	b := img.Bounds()
	dst := make([]byte, 3*b.Dx())
	var colours [256][3]byte
	if m, ok := img.(*image.Paletted); ok {
		for i, c := range m.Palette[:min(len(m.Palette), 256)] {
			colours[i] = RgbOf(c)
		}
	}
	return eachRow(ctx, b.Dy(), func(y int) {
		switch m := img.(type) {
		case *image.Gray:
			rowGrey(dst, m.Pix[y*m.Stride:])
		case *image.RGBA:
			rowFour(dst, m.Pix[y*m.Stride:])
		case *image.NRGBA:
			rowFour(dst, m.Pix[y*m.Stride:])
		case *image.Paletted:
			rowOfIndices(dst, m.Pix[y*m.Stride:], &colours)
		default:
			rowAny(dst, img, b.Min.X, b.Min.Y+y)
		}
		visit(y, dst)
	})
}

func rowGrey(dst, src []byte) {
	for x := range len(dst) / 3 {
		v := src[x]
		dst[3*x], dst[3*x+1], dst[3*x+2] = v, v, v
	}
}

// rowFour converts pixels of four bytes to RGB: it copies the first three bytes of each.
func rowFour(dst, src []byte) {
	for x := range len(dst) / 3 {
		copy(dst[3*x:3*x+3], src[4*x:])
	}
}

func rowOfIndices(dst, src []byte, colours *[256][3]byte) {
	for x := range len(dst) / 3 {
		copy(dst[3*x:3*x+3], colours[src[x]][:])
	}
}

// rowAny converts a row of an image of any type to RGB, pixel by pixel, without premultiplying by alpha.
func rowAny(dst []byte, img image.Image, x0, y int) {
	for x := range len(dst) / 3 {
		c := color.NRGBAModel.Convert(img.At(x0+x, y)).(color.NRGBA)
		dst[3*x], dst[3*x+1], dst[3*x+2] = c.R, c.G, c.B
	}
}
