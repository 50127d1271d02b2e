package data

import (
	"bytes"
	"encoding/binary"

	"github.com/bnctl/bnctl/data/internal/jpeg"
)

// upright is the orientation of a picture whose first row is its top and whose
// first column is its left side (EXIF 2.32, tag 274).
const upright = 1

// orientation returns the EXIF orientation of a picture file, 1 to 8; upright if
// the file does not say, or not rightly. Only this one tag is read, and nothing
// that is in the file can make that take long: at most 65535 entries are
// looked at, and no pointer is followed but the one to the first directory.
func orientation(file []byte, format string) int {
	switch format {
	case "JPEG":
		for s := range jpeg.Segments(file) {
			const app1, sos = 0xe1, 0xda
			if tags, ok := bytes.CutPrefix(s.Body, []byte("Exif\x00\x00")); ok && s.Marker == app1 {
				return orientationTag(tags)
			}
			if s.Marker == sos {
				break
			}
		}
	case "PNG":
		// A chunk is its length, its name, its data and a sum of four bytes.
		return orientationTag(chunk(file, 8, "eXIf", func(head []byte) (string, int) {
			return string(head[4:8]), int(binary.BigEndian.Uint32(head))
		}, 4, 1))
	case "WebP":
		// A chunk is its name, its length and its data, padded to even.
		tags := chunk(file, 12, "EXIF", func(head []byte) (string, int) {
			return string(head[:4]), int(binary.LittleEndian.Uint32(head[4:]))
		}, 0, 2)
		return orientationTag(bytes.TrimPrefix(tags, []byte("Exif\x00\x00")))
	case "TIFF":
		return orientationTag(file)
	}
	return upright
}

// chunk returns the data of the first chunk of that name in a file of chunks that
// begin at a place, each a head of 8 bytes, data padded to a multiple of align,
// and so many bytes more; nil if there is none.
func chunk(file []byte, at int, name string, head func([]byte) (string, int), more, align int) []byte {
	for len(file)-at >= 8 {
		is, n := head(file[at : at+8])
		at += 8
		if n > len(file)-at {
			return nil
		}
		if is == name {
			return file[at : at+n]
		}
		at = min(at+(n+align-1)/align*align+more, len(file))
	}
	return nil
}

// orientationTag finds the orientation in tags as TIFF has them: the byte
// order, 42, where the first directory is; there the number of entries, and
// entries of 12 bytes: tag, type, count, value.
func orientationTag(tags []byte) int {
	const tag, short = 274, 3
	if len(tags) < 8 {
		return upright
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(tags[:4]) == "MM\x00\x2a" {
		order = binary.BigEndian
	} else if string(tags[:4]) != "II\x2a\x00" {
		return upright
	}
	at := uint64(order.Uint32(tags[4:]))
	if at+2 > uint64(len(tags)) {
		return upright
	}
	directory := tags[at:]
	entries := directory[2:]
	for range order.Uint16(directory) {
		if len(entries) < 12 {
			break
		}
		if order.Uint16(entries) == tag && order.Uint16(entries[2:]) == short && order.Uint32(entries[4:]) == 1 {
			if v := int(order.Uint16(entries[8:])); 1 <= v && v <= 8 {
				return v
			}
			break
		}
		entries = entries[12:]
	}
	return upright
}

// turned returns src as it is seen upright. An orientation above 4 swaps height
// and width.
func turned(src plane, orientation int) plane {
	if orientation == upright {
		return src
	}
	dst := plane{src.h, src.w, src.c, make([]byte, len(src.pix))}
	if orientation > 4 {
		dst.h, dst.w = src.w, src.h
	}
	for y := range dst.h {
		row := dst.row(y)
		for x := range dst.w {
			sx, sy := x, y
			if orientation > 4 {
				sx, sy = y, x
			}
			switch orientation {
			case 2, 3, 7, 8: // the columns of the file run from right to left
				sx = src.w - 1 - sx
			}
			switch orientation {
			case 3, 4, 6, 7: // its rows run upwards
				sy = src.h - 1 - sy
			}
			copy(row[x*src.c:(x+1)*src.c], src.row(sy)[sx*src.c:])
		}
	}
	return dst
}
