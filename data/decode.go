package data

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"path"
	"slices"
	"strings"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/bnctl/bnctl/tensor"
)

// codecs is the table of picture formats, told apart by how a file begins.
var codecs = []struct {
	name   string
	begins string // ? stands for any byte
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}{
	{"JPEG", "\xff\xd8\xff", jpeg.DecodeConfig, jpeg.Decode},
	{"PNG", "\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode},
	{"WebP", "RIFF????WEBPVP8", webp.DecodeConfig, webp.Decode},
	{"BMP", "BM????\x00\x00\x00\x00", bmp.DecodeConfig, bmp.Decode},
	{"TIFF", "II\x2a\x00", tiff.DecodeConfig, tiff.Decode},
	{"TIFF", "MM\x00\x2a", tiff.DecodeConfig, tiff.Decode},
}

// pictureEndings are the names of files that count as pictures in folders and
// archives; what is in the file decides its format.
var pictureEndings = []string{".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"}

// isPicture reports whether a file name has the ending of a picture.
func isPicture(name string) bool {
	return slices.Contains(pictureEndings, strings.ToLower(path.Ext(name)))
}

// pictureSize returns the height and width that a picture file declares.
func pictureSize(file []byte) (h, w int, err error) {
	codec, err := codecOf(file)
	if err != nil {
		return 0, 0, err
	}
	defer caught(&err)
	c, err := codecs[codec].config(bytes.NewReader(file))
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", codecs[codec].name, cutShort(err))
	}
	if c.Width <= 0 || c.Height <= 0 || c.Width > MaxPixels/c.Height {
		return 0, 0, fmt.Errorf("%s of %d x %d pixels; at most %d pixels are decoded", codecs[codec].name,
			c.Width, c.Height, MaxPixels)
	}
	return c.Height, c.Width, nil
}

// DecodePicture decodes a JPEG, PNG, WebP, BMP or TIFF file to RGB, u8
// [height, width, 3]. Grey, palette and CMYK become RGB, 16 bits become 8,
// transparency and orientation tags are ignored. The size is checked before
// anything is decoded.
func DecodePicture(file []byte) (t tensor.Tensor, err error) {
	if _, _, err := pictureSize(file); err != nil {
		return tensor.Tensor{}, err
	}
	codec, err := codecOf(file)
	if err != nil {
		return tensor.Tensor{}, err
	}
	defer caught(&err)
	img, err := codecs[codec].decode(bytes.NewReader(file))
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("%s: %w", codecs[codec].name, cutShort(err))
	}
	return toRGB(img), nil
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
func toRGB(img image.Image) tensor.Tensor {
	b := img.Bounds()
	t := tensor.New(tensor.U8, b.Dy(), b.Dx(), 3)
	row := 3 * b.Dx()
	for y := range b.Dy() {
		dst := t.Bytes[y*row : (y+1)*row]
		switch m := img.(type) {
		case *image.YCbCr:
			rowYCbCr(dst, m, y)
		case *image.Gray:
			rowGrey(dst, m.Pix[y*m.Stride:])
		case *image.RGBA:
			rowFour(dst, m.Pix[y*m.Stride:])
		case *image.NRGBA:
			rowFour(dst, m.Pix[y*m.Stride:])
		default:
			rowAny(dst, img, b.Min.X, b.Min.Y+y)
		}
	}
	return t
}

// rowYCbCr converts row y. A decoder's picture begins at (0, 0), so that the
// chroma sample of a pixel is found by shifts.
func rowYCbCr(dst []byte, m *image.YCbCr, y int) {
	shifts := [...]struct{ x, y uint }{
		image.YCbCrSubsampleRatio444: {0, 0}, image.YCbCrSubsampleRatio422: {1, 0},
		image.YCbCrSubsampleRatio420: {1, 1}, image.YCbCrSubsampleRatio440: {0, 1},
		image.YCbCrSubsampleRatio411: {2, 0}, image.YCbCrSubsampleRatio410: {2, 1},
	}[m.SubsampleRatio]
	luma := m.Y[y*m.YStride:]
	cb, cr := m.Cb[(y>>shifts.y)*m.CStride:], m.Cr[(y>>shifts.y)*m.CStride:]
	for x := range len(dst) / 3 {
		c := x >> shifts.x
		dst[3*x], dst[3*x+1], dst[3*x+2] = color.YCbCrToRGB(luma[x], cb[c], cr[c])
	}
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
