package images

import (
	"context"
	"image"
	"image/color"

	"github.com/bnctl/bnctl/data/internal/jpeg"
	"github.com/bnctl/bnctl/data/internal/stream"
)

// Memory returns the number of bytes that decoding needs, without the file and without the rows that the
// caller copies. This is a few rows if the format is decoded in strips, and otherwise the whole picture.
func (f *File) Memory(ctx context.Context) (int64, error) {
	const (
		row      = 3       // bytes of a pixel that is passed to the caller
		unpacker = 1 << 16 // memory of zlib
	)
	given := int64(row * f.w)
	switch name := codecs[f.codec].name; {
	case name == "JPEG":
		n, err := jpeg.Memory(ctx, f.file)
		return n + 2*given, err
	case name == "PNG" && !interlaced(f.file):
		p := pngFile{w: f.w, bits: int(f.file[24]), kind: int(f.file[25])}
		return given + 2*int64(p.rowBytes()+1) + unpacker, nil
	case name == "WebP" && f.file[15] != ' ': // VP8L, or VP8X, which may have alpha
		return given + 12*int64(f.w)*int64(f.h), nil
	case name == "PPM" || name == "PGM":
		const number = 8 // bytes of an int, for each sample of a row
		return given + number*given, nil
	case name == "GIF": // the indices of the picture, and the ones of the screen
		return given + 2*int64(f.w)*int64(f.h), nil
	case name == "TIFF" && f.special():
		return given + int64(len(f.file)) + 12*int64(f.w)*int64(f.h), nil
	default:
		c, _, err := image.DecodeConfig(stream.NewFile(ctx, f.file))
		// A PNG needs memory for additional passes, and a TIFF for a growing strip.
		times := map[string]int{"PNG": 2, "TIFF": 3}[name]
		if name == "TIFF" { // for a copy of the file with reversed bits
			given += int64(len(f.file))
		}
		return given + int64(max(times, 1)*pixelBytes(c.ColorModel))*int64(f.w)*int64(f.h), err
	}
}

// special reports whether rowsOfJPEG or rowsOfInks reads the file, a TIFF.
func (f *File) special() bool {
	d, ok := openDirectory(f.file)
	return ok && (d.inJPEG() || d.inInks())
}

// pixelBytes returns the number of bytes per pixel of an image with this model.
func pixelBytes(m color.Model) int {
	switch m {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.YCbCrModel:
		return 3
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	if _, ok := m.(color.Palette); ok {
		return 1
	}
	return 4
}
