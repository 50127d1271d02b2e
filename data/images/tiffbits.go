package images

import (
	"bytes"
	"context"
	"image"
	"math/bits"

	"golang.org/x/image/tiff"

	"github.com/bnctl/bnctl/data/internal/stream"
)

// Tags of TIFF 6.0 for bit order and compression, and some of their values.
const (
	tiffFillOrder          = 266
	lowBitFirst            = 2 // value of tiffFillOrder
	compressedFax3         = 3
	compressedFax4         = 4
	seenWhiteIsZero        = 0
	defaultTIFFCompression = 1
)

// decodeTIFF is like tiff.Decode. It also decodes files where the low bit of each byte is first, and faxes
// where black is 0. x/image ignores the bit order, and reads these faxes as negatives.
func decodeTIFF(ctx context.Context, file []byte) (image.Image, error) {
	d, ok := openDirectory(file)
	if !ok {
		return tiff.Decode(stream.NewFile(ctx, file))
	}
	compression := d.number(tiffCompression, defaultTIFFCompression)
	switch fax := compression == compressedFax3 || compression == compressedFax4; {
	case fax && d.number(tiffPhotometric, seenWhiteIsZero) == seenBlackIsZero:
		img, err := tiff.Decode(stream.NewFile(ctx, d.withNumber(tiffPhotometric, seenWhiteIsZero)))
		if err != nil {
			return nil, err
		}
		invert(img)
		return img, nil
	case !fax && d.number(tiffFillOrder, 1) == lowBitFirst:
		file = d.withHighBitFirst()
	}
	return tiff.Decode(stream.NewFile(ctx, file))
}

// invert inverts the grey values of img.
func invert(img image.Image) {
	grey, ok := img.(*image.Gray)
	if !ok {
		return
	}
	for i, v := range grey.Pix {
		grey.Pix[i] = 255 - v
	}
}

// withNumber returns the file with another value for a tag that it has.
func (d *directory) withNumber(tag, value int) []byte {
	file := bytes.Clone(d.file)
	for entry := range d.entries() {
		if d.tag(entry) != tag {
			continue
		}
		if d.order.Uint16(file[entry+2:]) == tiffLong {
			d.order.PutUint32(file[entry+8:], uint32(value))
		} else {
			d.order.PutUint16(file[entry+8:], uint16(value))
		}
	}
	return file
}

// withHighBitFirst returns the file with the bits of each byte of its strips or tiles in the usual order.
func (d *directory) withHighBitFirst() []byte {
	file := d.withNumber(tiffFillOrder, 1)
	offsets, counts := d.values(tiffStripOffsets), d.values(tiffStripByteCounts)
	if tiles := d.values(tiffTileOffsets); tiles != nil {
		offsets, counts = tiles, d.values(tiffTileByteCounts)
	}
	for i := range min(len(offsets), len(counts)) {
		from := min(offsets[i], uint64(len(file)))
		to := min(from+min(counts[i], uint64(len(file))), uint64(len(file)))
		for at := from; at < to; at++ {
			file[at] = bits.Reverse8(d.file[at])
		}
	}
	return file
}
