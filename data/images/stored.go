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

// pngBits is the offset in a PNG file of the number of bits per sample.
const pngBits = 24

// maskFormats lists the formats that a mask may have.
const maskFormats = "PNG, GIF, BMP, TIFF or PGM"

// StoredPixels returns the pixels of a mask as its file stores them, and the number of bits per sample. It is
// an error if the file is a JPEG, or has a format without an index or a grey value for each pixel.
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

// decodeStored returns the stored pixels of a file in the given format, and the number of bits per sample.
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

// RgbOf returns the red, green and blue of a colour. It ignores alpha.
func RgbOf(c color.Color) [3]byte {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return [3]byte{n.R, n.G, n.B}
}
