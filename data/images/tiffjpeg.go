package images

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/bnctl/bnctl/data/internal/jpeg"
	"github.com/bnctl/bnctl/problem"
)

// inJPEG reports whether each strip, or tile, is a JPEG (TIFF Technical Note 2).
func (d *directory) inJPEG() bool { return d.number(tiffCompression, 1) == compressedJPEG }

// pieces are the strips or tiles of a TIFF, each of which is a JPEG.
type pieces struct {
	h, w            int // size of the picture
	pieceH, pieceW  int
	columns         int
	offsets, counts []uint64
	tables          []byte // tables that all JPEGs share
	colours         byte   // colour transform that is declared in Adobe's segment
}

// openPieces reads the positions of the JPEGs in the file.
func (d *directory) openPieces() (*pieces, error) {
	p := &pieces{h: d.number(tiffHeight, 0), w: d.number(tiffWidth, 0), tables: d.bytes(tiffJPEGTables)}
	switch seen := d.number(tiffPhotometric, 0); {
	case seen == seenYC:
		p.colours = 1
	case seen == seenRGB && d.number(tiffSamples, 1) > 3:
		return nil, problem.Advise("save it without an alpha channel", "JPEG in TIFF of %s for RGB; 3 are read",
			problem.Plural(d.number(tiffSamples, 1), "sample"))
	case seen != seenRGB && seen != seenBlackIsZero:
		return nil, fmt.Errorf("JPEG in TIFF of photometric interpretation %d; grey, RGB and YCbCr are read", seen)
	}
	p.pieceW, p.pieceH = p.w, min(d.number(tiffRowsPerStrip, p.h), p.h)
	p.offsets, p.counts = d.values(tiffStripOffsets), d.values(tiffStripByteCounts)
	if offsets := d.values(tiffTileOffsets); offsets != nil {
		p.pieceW, p.pieceH = d.number(tiffTileWidth, 0), d.number(tiffTileHeight, 0)
		p.offsets, p.counts = offsets, d.values(tiffTileByteCounts)
	}
	if p.pieceW < 1 || p.pieceH < 1 || p.pieceW > maxPixels/p.pieceH {
		return nil, fmt.Errorf("strips or tiles of %d x %d pixels", p.pieceW, p.pieceH)
	}
	p.columns = (p.w + p.pieceW - 1) / p.pieceW
	n := p.columns * ((p.h + p.pieceH - 1) / p.pieceH)
	if len(p.offsets) < n || len(p.counts) < n {
		return nil, fmt.Errorf("strips or tiles: %d, want %d", min(len(p.offsets), len(p.counts)), n)
	}
	if padded := n * p.pieceW * p.pieceH; padded > 4*p.w*p.h+FreePixels {
		return nil, fmt.Errorf("tiles of %s for a picture of %d", problem.Plural(padded, "pixel"), p.w*p.h)
	}
	return p, nil
}

// bytes returns the value of a tag as bytes.
func (d *directory) bytes(tag int) []byte {
	for entry := range d.entries() {
		if d.tag(entry) != tag {
			continue
		}
		n, at := int64(d.order.Uint32(d.file[entry+4:])), int64(d.order.Uint32(d.file[entry+8:]))
		if n > 4 && at+n <= int64(len(d.file)) {
			return d.file[at : at+n]
		}
	}
	return nil
}

// rowsOfJPEG decodes one strip or row of tiles after the other.
func (d *directory) rowsOfJPEG(ctx context.Context, visit eachPixels) error {
	p, err := d.openPieces()
	if err != nil {
		return err
	}
	band := make([]byte, 3*p.w*p.pieceH)
	for y0 := 0; y0 < p.h; y0 += p.pieceH {
		rows := min(p.pieceH, p.h-y0)
		for i := range p.columns {
			if err := p.decode(ctx, d.file, y0/p.pieceH*p.columns+i, rows, band[3*i*p.pieceW:]); err != nil {
				return err
			}
		}
		for y := range rows {
			visit(y0+y, band[3*y*p.w:][:3*p.w])
		}
	}
	return nil
}

// decode writes the pixels of piece i to dst, which has rows of the length of the whole picture.
func (p *pieces) decode(ctx context.Context, file []byte, i, rows int, dst []byte) error {
	at, n := p.offsets[i], p.counts[i]
	if at > uint64(len(file)) || n > uint64(len(file))-at {
		return io.ErrUnexpectedEOF
	}
	whole := p.join(file[at : at+n])
	h, w, err := jpeg.Size(ctx, whole)
	if err != nil {
		return err
	}
	if w != p.pieceW || h != rows && h != p.pieceH {
		return fmt.Errorf("strip or tile %d has %d x %d pixels, want %d x %d", i, w, h, p.pieceW, rows)
	}
	if err := checkJPEGSize(whole); err != nil {
		return err
	}
	width := min(p.pieceW, p.w-i%p.columns*p.pieceW)
	return rowsOfJPEG(ctx, whole, func(y int, pixels []byte) {
		if y < rows {
			copy(dst[3*y*p.w:], pixels[:3*width])
		}
	})
}

// join returns a piece as a complete JPEG, with the shared tables and with Adobe's segment. The segment
// defines the colour space.
func (p *pieces) join(piece []byte) []byte {
	start, end := []byte{0xff, 0xd8}, []byte{0xff, 0xd9}
	whole := append(bytes.Clone(start), "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00"...)
	whole = append(whole, p.colours)
	whole = append(whole, bytes.TrimSuffix(bytes.TrimPrefix(p.tables, start), end)...)
	return append(whole, bytes.TrimPrefix(piece, start)...)
}
