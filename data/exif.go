package data

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/bnctl/bnctl/data/internal/jpeg"
	"github.com/bnctl/bnctl/tensor"
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
// and more bytes behind that; nil if there is none.
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

// orientationTag finds the orientation in tags as TIFF has them.
func orientationTag(tags []byte) int {
	const tag = 274
	d, ok := openDirectory(tags)
	if !ok {
		return upright
	}
	for entry := range d.entries() {
		if d.tag(entry) != tag {
			continue
		}
		if v := d.numbers(entry, 1); len(v) == 1 && 1 <= v[0] && v[0] <= 8 {
			return int(v[0])
		}
		break
	}
	return upright
}

// turned returns a picture as it is seen upright. An orientation above 4 swaps
// height and width.
func turned(ctx context.Context, t tensor.Tensor, orientation int) (tensor.Tensor, error) {
	if orientation == upright {
		return t, nil
	}
	src := plane{t.Shape[0], t.Shape[1], t.Shape[2], t.Bytes}
	dst := plane{src.h, src.w, src.c, make([]byte, len(src.pix))}
	if orientation > 4 {
		dst.h, dst.w = src.w, src.h
	}
	err := eachRow(ctx, dst.h, func(y int) {
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
	})
	return tensor.Tensor{DType: tensor.U8, Shape: []int{dst.h, dst.w, dst.c}, Bytes: dst.pix}, err
}
