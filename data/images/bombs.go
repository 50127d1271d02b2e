package images

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/bnctl/bnctl/data/internal/jpeg"
	"github.com/bnctl/bnctl/problem"
)

// checkSize returns an error if a file is too small for the number of pixels that it declares, or would need
// too much work for its size. In every format, a few bytes can request gigabytes and minutes.
func checkSize(file []byte, format string, h, w int) error {
	if w*h > FreePixels && w*h/maxPixelsPerByte > len(file) {
		return fmt.Errorf("%d x %d pixels in %s; above %d pixels at most %d for each byte are decoded",
			w, h, problem.Plural(len(file), "byte"), FreePixels, maxPixelsPerByte)
	}
	switch format {
	case "JPEG":
		return checkJPEGSize(file)
	case "TIFF":
		return checkTIFFSize(file)
	}
	return nil
}

func checkJPEGSize(file []byte) error {
	blocks, visits := jpeg.Work(file)
	if blocks/8 > len(file) { // each block needs at least one bit
		return fmt.Errorf("%s of 8 x 8 pixels in %s; the file is cut short", problem.Plural(blocks, "block"),
			problem.Plural(len(file), "byte"))
	}
	if visits > maxBlockVisits {
		return problem.Advise("write it with fewer scans",
			"its scans go over %s of 8 x 8 pixels; at most %d are decoded",
			problem.Plural(visits, "block"), maxBlockVisits)
	}
	return nil
}

// Tags of a TIFF that have the number of bytes of each strip, or of each tile.
const (
	tiffStripByteCounts = 279
	tiffTileByteCounts  = 325
)

// checkTIFFSize returns an error for a TIFF with overlapping strips or tiles. Any number of these may share
// the same bytes, and each is read as a whole. The decoder limits their unpacked size.
func checkTIFFSize(file []byte) error {
	d, ok := openDirectory(file)
	if !ok {
		return nil // the decoder will report the error
	}
	packed := uint64(0)
	for entry := range d.entries() {
		if tag := d.tag(entry); tag == tiffStripByteCounts || tag == tiffTileByteCounts {
			for _, n := range d.numbers(entry, len(file)) {
				packed += n
			}
		}
	}
	if packed > 2*uint64(len(file)) {
		return fmt.Errorf("strips or tiles of %s in all in a file of %d: they stand for the same bytes",
			problem.Plural(int(packed), "byte"), len(file))
	}
	return nil
}

// directory is the first directory of tags of a TIFF. The TIFF may be the file itself, or the EXIF part of
// another picture. The directory has the number of its entries, and entries of 12 bytes: tag, type, count,
// and the value or its offset.
type directory struct {
	file   []byte
	order  binary.ByteOrder
	offset int
	count  int
}

// openDirectory finds the first directory of a TIFF. ok is false if there is none.
func openDirectory(file []byte) (d directory, ok bool) {
	d = directory{file: file, order: binary.LittleEndian}
	switch {
	case len(file) < 8:
		return d, false
	case bytes.HasPrefix(file, []byte("MM\x00\x2a")):
		d.order = binary.BigEndian
	case !bytes.HasPrefix(file, []byte("II\x2a\x00")):
		return d, false
	}
	at := uint64(d.order.Uint32(file[4:]))
	if at+2 > uint64(len(file)) {
		return d, false
	}
	d.offset = int(at) + 2
	d.count = int(d.order.Uint16(file[at:]))
	return d, true
}

// entries yields the offset of each complete entry.
func (d *directory) entries() func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range d.count {
			entry := d.offset + 12*i
			if entry+12 > len(d.file) || !yield(entry) {
				return
			}
		}
	}
}

func (d *directory) tag(entry int) int { return int(d.order.Uint16(d.file[entry:])) }

// Numeric types in a TIFF.
const (
	tiffShort = 3 // 16 bits
	tiffLong  = 4 // 32 bits
)

// numbers returns the first numbers of an entry, at most limit of them. It returns nil if they are not whole
// numbers, or if the file ends before them.
func (d *directory) numbers(entry, limit int) []uint64 {
	size := 2
	switch d.order.Uint16(d.file[entry+2:]) {
	case tiffShort:
	case tiffLong:
		size = 4
	default:
		return nil
	}
	n := uint64(d.order.Uint32(d.file[entry+4:]))
	from := uint64(entry + 8)
	if n*uint64(size) > 4 {
		from = uint64(d.order.Uint32(d.file[from:]))
	}
	if from+n*uint64(size) > uint64(len(d.file)) {
		return nil
	}
	out := make([]uint64, min(n, uint64(limit)))
	for i := range out {
		if at := d.file[from+uint64(i*size):]; size == 2 {
			out[i] = uint64(d.order.Uint16(at))
		} else {
			out[i] = uint64(d.order.Uint32(at))
		}
	}
	return out
}
