package images

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"golang.org/x/image/bmp"

	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/problem"
)

// pngBits is the offset of the number of bits per sample in a PNG file, in its first chunk.
const pngBits = 24

// maskFormats lists the formats of masks.
const maskFormats = "PNG, GIF, BMP, TIFF or PGM"

// StoredPixels returns the pixels of the file of a mask as they are stored, and the number of bits per
// sample. JPEG and formats without an index or a grey value for each pixel are errors.
func StoredPixels(ctx context.Context, file []byte) (img image.Image, bits int, err error) {
	codec, err := codecOf(file)
	if err != nil {
		return nil, 0, err
	}
	name := codecs[codec].name
	tags, _ := openDirectory(file)
	switch {
	case name == "JPEG", name == "TIFF" && tags.inJPEG():
		return nil, 0, problem.Advise("save it as PNG",
			"it is a JPEG, whose compression changes pixels, and with them classes")
	case name == "WebP" || name == "PPM":
		return nil, 0, fmt.Errorf("it is a %s; masks are %s", name, maskFormats)
	}
	h, w, err := Size(ctx, file, false)
	if err != nil {
		return nil, 0, err
	}
	defer stream.RecoverError(&err)
	if err := checkSize(file, name, h, w); err != nil {
		return nil, 0, err
	}
	img, bits, err = decodeStored(ctx, file, name)
	return img, bits, stream.CutShort(err)
}

// decodeStored returns the stored pixels of a file in a format, and the number of bits per
// sample.
func decodeStored(ctx context.Context, file []byte, format string) (img image.Image, bits int, err error) {
	switch format {
	case "PNG":
		img, err = png.Decode(stream.NewFile(ctx, file))
		return img, int(file[pngBits]), err
	case "GIF":
		img, err = firstOfGIF(ctx, file)
	case "BMP":
		img, err = bmp.Decode(stream.NewFile(ctx, file))
	case "TIFF":
		d, _ := openDirectory(file)
		img, err = decodeTIFF(ctx, file)
		return img, d.number(tiffBits, 1), err
	case "PGM":
		img, err = greyOfNetpbm(file)
	}
	return img, 8, err
}

// RgbOf returns the red, green and blue of a colour, ignoring its alpha.
func RgbOf(c color.Color) [3]byte {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return [3]byte{n.R, n.G, n.B}
}
