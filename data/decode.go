package data

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
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/bnctl/bnctl/data/internal/jpeg"
	"github.com/bnctl/bnctl/tensor"
)

// decoder returns the pixels of a file, u8 [height, width, 3].
type decoder func(ctx context.Context, file []byte) (tensor.Tensor, error)

// codecs is the table of picture formats, told apart by how a file begins.
var codecs = []struct {
	name   string
	begins string // ? stands for any byte
	size   func(ctx context.Context, file []byte) (height, width int, err error)
	decode decoder
}{
	{"JPEG", "\xff\xd8\xff", jpeg.Size, decodeJPEG},
	{"PNG", "\x89PNG\r\n\x1a\n", sizeBy(png.DecodeConfig), pixelsBy(png.Decode)},
	{"WebP", "RIFF????WEBPVP8", sizeBy(webp.DecodeConfig), decodeWebP},
	{"BMP", "BM????\x00\x00\x00\x00", sizeBy(bmp.DecodeConfig), pixelsBy(bmp.Decode)},
	{"TIFF", "II\x2a\x00", sizeBy(tiff.DecodeConfig), pixelsBy(tiff.Decode)},
	{"TIFF", "MM\x00\x2a", sizeBy(tiff.DecodeConfig), pixelsBy(tiff.Decode)},
}

func sizeBy(config func(io.Reader) (image.Config, error)) func(context.Context, []byte) (int, int, error) {
	return func(ctx context.Context, file []byte) (height, width int, err error) {
		c, err := config(attend(ctx, file))
		return c.Height, c.Width, err
	}
}

func pixelsBy(decode func(io.Reader) (image.Image, error)) decoder {
	return func(ctx context.Context, file []byte) (tensor.Tensor, error) {
		img, err := decode(attend(ctx, file))
		if err != nil {
			return tensor.Tensor{}, err
		}
		return toRGB(ctx, img)
	}
}

// pictureEndings are the names of files that count as pictures in folders and
// archives; what is in the file decides its format.
var pictureEndings = []string{".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"}

// isPicture reports whether a file name has the ending of a picture.
func isPicture(name string) bool {
	return slices.Contains(pictureEndings, strings.ToLower(path.Ext(name)))
}

// decoderVersion is a number that changes with the pixels that picture files
// decode to. It is in the fingerprint of their sources and in recipes. Version 1,
// which recipes do not name, replicated the chroma of JPEGs and took lossy
// WebP for JPEG's colours.
const decoderVersion = "2"

// PictureSize returns the height and width of the picture that DecodePicture would
// return, as the file declares them. When ctx ends it soon returns an error.
func PictureSize(ctx context.Context, file []byte, exif bool) (h, w int, err error) {
	codec, err := codecOf(file)
	if err != nil {
		return 0, 0, err
	}
	defer caught(&err)
	h, w, err = codecs[codec].size(ctx, file)
	if err := ended(ctx); err != nil {
		return 0, 0, err
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", codecs[codec].name, cutShort(err))
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

// DecodePicture returns the picture of a JPEG, PNG, WebP, BMP or TIFF file in RGB, u8
// [height, width, 3]. Grey, palette and CMYK become RGB, 16 bits become 8,
// transparency is ignored. The pixels are those that Pillow 9.4 has. The size is
// checked before anything is decoded. With exif, the picture is turned as the file's
// EXIF orientation says; Pillow and torchvision do not do that by default. When ctx
// ends it returns an error within a second, except for a WebP file of tens of
// millions of pixels.
func DecodePicture(ctx context.Context, file []byte, exif bool) (t tensor.Tensor, err error) {
	h, w, err := PictureSize(ctx, file, false)
	if err != nil {
		return tensor.Tensor{}, err
	}
	codec, err := codecOf(file)
	if err != nil {
		return tensor.Tensor{}, err
	}
	defer caught(&err)
	if err := plausible(file, codecs[codec].name, h, w); err != nil {
		return tensor.Tensor{}, fmt.Errorf("%s: %w", codecs[codec].name, err)
	}
	t, err = codecs[codec].decode(ctx, file)
	if err := ended(ctx); err != nil {
		return tensor.Tensor{}, err
	}
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("%s: %w", codecs[codec].name, cutShort(err))
	}
	if exif {
		return turned(ctx, t, orientation(file, codecs[codec].name))
	}
	return t, nil
}

func codecOf(file []byte) (int, error) {
	for i, c := range codecs {
		if begins(file, c.begins) {
			return i, nil
		}
	}
	if len(file) == 0 {
		return 0, errors.New("the file is empty")
	}
	return 0, errors.New("this is not a JPEG, PNG, WebP, BMP or TIFF picture")
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

// caught turns a panic of a decoder on hostile bytes into an error.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the picture is damaged: %v", p)
	}
}

// toRGB returns the pixels of img as u8 [height, width, 3].
func toRGB(ctx context.Context, img image.Image) (tensor.Tensor, error) {
	b := img.Bounds()
	t := tensor.New(tensor.U8, b.Dy(), b.Dx(), 3)
	row := 3 * b.Dx()
	err := eachRow(ctx, b.Dy(), func(y int) {
		dst := t.Bytes[y*row : (y+1)*row]
		switch m := img.(type) {
		case *image.Gray:
			rowGrey(dst, m.Pix[y*m.Stride:])
		case *image.RGBA:
			rowFour(dst, m.Pix[y*m.Stride:])
		case *image.NRGBA:
			rowFour(dst, m.Pix[y*m.Stride:])
		default:
			rowAny(dst, img, b.Min.X, b.Min.Y+y)
		}
	})
	return t, err
}

func rowGrey(dst, src []byte) {
	for x := range len(dst) / 3 {
		v := src[x]
		dst[3*x], dst[3*x+1], dst[3*x+2] = v, v, v
	}
}

// rowFour leaves the fourth byte of each pixel out.
func rowFour(dst, src []byte) {
	for x := range len(dst) / 3 {
		copy(dst[3*x:3*x+3], src[4*x:])
	}
}

// rowAny converts whatever there is, pixel by pixel, without alpha's weight.
func rowAny(dst []byte, img image.Image, x0, y int) {
	for x := range len(dst) / 3 {
		c := color.NRGBAModel.Convert(img.At(x0+x, y)).(color.NRGBA)
		dst[3*x], dst[3*x+1], dst[3*x+2] = c.R, c.G, c.B
	}
}
