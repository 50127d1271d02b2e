package images

import (
	"bytes"
	"encoding/binary"
)

// HasEnd reports whether a picture file has the end marker that its format requires. Nearly all truncated
// files, for example from an interrupted download, have none, and the check needs no decoding. A file without
// the marker may still be complete: decoders accept a missing end marker.
func HasEnd(file []byte) bool {
	codec, err := codecOf(file)
	if err != nil {
		return false
	}
	switch codecs[codec].name {
	case "JPEG": // the last marker, because a thumbnail inside the file has one too
		scan := bytes.LastIndex(file, []byte{0xff, 0xda})
		return scan >= 0 && bytes.Contains(file[scan:], []byte{0xff, 0xd9})
	case "PNG":
		return bytes.Contains(file[max(len(file)-1024, 0):], []byte("IEND"))
	case "WebP":
		return uint64(binary.LittleEndian.Uint32(file[4:])) <= uint64(len(file)-8)
	case "GIF":
		return bytes.HasSuffix(bytes.TrimRight(file, "\x00"), []byte{';'})
	}
	return true
}
