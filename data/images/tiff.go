package images

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"slices"

	"golang.org/x/image/tiff"

	"github.com/bnctl/bnctl/problem"
)

// Tags of a TIFF, and values of some of them (TIFF 6.0).
const (
	tiffWidth, tiffHeight   = 256, 257
	tiffBits                = 258
	tiffCompression         = 259
	tiffPhotometric         = 262
	tiffStripOffsets        = 273
	tiffSamples             = 277
	tiffRowsPerStrip        = 278
	tiffPlanar              = 284
	tiffTileWidth           = 322
	tiffTileHeight          = 323
	tiffTileOffsets         = 324
	tiffExtraSamples        = 338
	tiffJPEGTables          = 347
	compressedJPEG          = 7
	seenRGB, seenCMYK       = 2, 5
	seenBlackIsZero, seenYC = 1, 6
	associatedAlpha         = 1
	unassociatedAlpha       = 2
)

// number returns the first number of a tag, or otherwise without this tag.
func (d *directory) number(tag, otherwise int) int {
	for entry := range d.entries() {
		if d.tag(entry) == tag {
			if v := d.numbers(entry, 1); len(v) == 1 {
				return int(v[0])
			}
		}
	}
	return otherwise
}

// values returns the numbers of a tag.
func (d *directory) values(tag int) []uint64 {
	for entry := range d.entries() {
		if d.tag(entry) == tag {
			return d.numbers(entry, len(d.file))
		}
	}
	return nil
}

// sizeOfTIFF reads the size of the picture. It is an error if colours are in separate planes, which x/image
// would read as pixels.
func sizeOfTIFF(ctx context.Context, file []byte) (height, width int, err error) {
	d, ok := openDirectory(file)
	if d.number(tiffPlanar, 1) != 1 && d.number(tiffSamples, 1) > 1 {
		return 0, 0, problem.Advise("save it with the samples of a pixel one behind the other",
			"it has a plane for each colour, which is not read")
	}
	if ok && (d.inJPEG() || d.inInks()) {
		return d.number(tiffHeight, 0), d.number(tiffWidth, 0), nil
	}
	return sizeBy(tiff.DecodeConfig)(ctx, file)
}

func rowsOfTIFF(ctx context.Context, file []byte, visit eachPixels) error {
	d, ok := openDirectory(file)
	switch {
	case ok && d.inJPEG():
		return d.rowsOfJPEG(ctx, visit)
	case ok && d.inInks():
		return d.rowsOfInks(ctx, visit)
	}
	img, err := decodeTIFF(ctx, file)
	if err != nil {
		return err
	}
	if d.number(tiffExtraSamples, 0) == associatedAlpha {
		return rowsOfWeighted(ctx, img, visit)
	}
	return rowsOfImage(ctx, img, visit)
}

// rowsOfWeighted calls visit with each row of an image where colours are premultiplied by alpha. It first
// divides them by alpha, as Pillow does (rgba2rgbA).
func rowsOfWeighted(ctx context.Context, img image.Image, visit eachPixels) error {
	b := img.Bounds()
	row := make([]byte, 3*b.Dx())
	return eachRow(ctx, b.Dy(), func(y int) {
		for x := range b.Dx() {
			red, green, blue, weight := img.At(b.Min.X+x, b.Min.Y+y).RGBA()
			for c, v := range []uint32{red, green, blue} {
				if v >>= 8; weight>>8 != 0 {
					v = min(255*v/(weight>>8), 255)
				}
				row[3*x+c] = byte(v)
			}
		}
		visit(y, row)
	})
}

// inInks reports whether the picture is in CMYK: cyan, magenta, yellow and black.
func (d *directory) inInks() bool { return d.number(tiffPhotometric, 0) == seenCMYK && !d.inJPEG() }

// rowsOfInks decodes a TIFF in CMYK. The TIFF decoder reads it as red, green, blue and alpha, which are also
// four bytes, and rowsOfInks interprets these as CMYK.
func (d *directory) rowsOfInks(ctx context.Context, visit eachPixels) error {
	if n := d.number(tiffSamples, 1); n != 4 || d.number(tiffPlanar, 1) != 1 || d.number(tiffBits, 1) != 8 {
		return fmt.Errorf("CMYK of %s of %s; four of 8 bits, one behind the other, are read",
			problem.Plural(n, "sample"), problem.Plural(d.number(tiffBits, 1), "bit"))
	}
	img, err := decodeTIFF(ctx, d.asColours())
	if err != nil {
		return err
	}
	inks, ok := img.(*image.NRGBA)
	if !ok {
		return errors.New("CMYK whose pixels are not of four bytes")
	}
	b := inks.Bounds()
	row, white := make([]byte, 3*b.Dx()), make([]byte, b.Dx())
	return eachRow(ctx, b.Dy(), func(y int) {
		for x := range white {
			pixel := inks.Pix[y*inks.Stride+4*x:][:4]
			copy(row[3*x:], pixel[:3])
			white[x] = 255 - pixel[3]
		}
		multiplyBlack(row, white)
		visit(y, row)
	})
}

// asColours returns the file with an additional directory, which declares the four samples of a pixel as RGB
// and alpha.
func (d *directory) asColours() []byte {
	file := slices.Clone(d.file)
	if len(file)%2 == 1 {
		file = append(file, 0)
	}
	d.order.PutUint32(file[4:], uint32(len(file)))
	number := func(b []byte, tag, value int) []byte {
		b = d.append16(b, tag)
		b = d.append16(b, tiffShort)
		b = d.append32(b, 1)
		return d.append16(d.append16(b, value), 0)
	}
	var entries [][]byte
	for entry := range d.entries() {
		switch tag := d.tag(entry); tag {
		case tiffPhotometric:
			entries = append(entries, number(nil, tag, seenRGB))
		case tiffExtraSamples:
		default:
			entries = append(entries, d.file[entry:entry+12])
		}
	}
	at := slices.IndexFunc(entries, func(e []byte) bool { return int(d.order.Uint16(e)) > tiffExtraSamples })
	if at < 0 {
		at = len(entries)
	}
	entries = slices.Insert(entries, at, number(nil, tiffExtraSamples, unassociatedAlpha))
	file = d.append16(file, len(entries))
	for _, e := range entries {
		file = append(file, e...)
	}
	return d.append32(file, 0)
}

func (d *directory) append16(b []byte, v int) []byte {
	return d.order.(binary.AppendByteOrder).AppendUint16(b, uint16(v))
}

func (d *directory) append32(b []byte, v int) []byte {
	return d.order.(binary.AppendByteOrder).AppendUint32(b, uint32(v))
}
