package images

import (
	"bytes"
	"encoding/binary"

	"github.com/bnctl/bnctl/data/internal/jpeg"
)

// upright is the orientation of a picture if the first row of the file is its top and the first column its
// left side (EXIF 2.32, tag 274).
const upright = 1

// orientation returns the EXIF orientation of a picture file, 1 to 8. It returns upright if the orientation
// is missing or invalid. It reads only this tag. The time is limited for any content: it reads at most 65535
// entries, and only the first directory.
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
		// A chunk of a PNG has its length, its name, its data, and a checksum of four bytes.
		return orientationTag(chunk(file, 8, "eXIf", func(head []byte) (string, int) {
			return string(head[4:8]), int(binary.BigEndian.Uint32(head))
		}, 4, 1))
	case "WebP":
		tags := webpChunk(file, webpHead, "EXIF")
		return orientationTag(bytes.TrimPrefix(tags, []byte("Exif\x00\x00")))
	case "TIFF":
		return orientationTag(file)
	}
	return upright
}

// chunk returns the data of the first chunk with this name, or nil. The first chunk in the file begins at
// offset. Each chunk has a head of 8 bytes, data padded to a multiple of align, and then more bytes. head
// returns the name of a chunk and the length of its data.
func chunk(file []byte, offset int, name string, head func([]byte) (string, int), more, align int) []byte {
	for len(file)-offset >= 8 {
		is, n := head(file[offset : offset+8])
		offset += 8
		if n > len(file)-offset {
			return nil
		}
		if is == name {
			return file[offset : offset+n]
		}
		offset = min(offset+(n+align-1)/align*align+more, len(file))
	}
	return nil
}

// orientationTag returns the orientation in EXIF tags, which have the form of a TIFF.
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
