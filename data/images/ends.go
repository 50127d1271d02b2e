package images

import (
	"bytes"
	"encoding/binary"
)

// HasEnd reports whether a picture file has the end that its format requires. Nearly all
// truncated files, for example from an interrupted download, lack it, and the check needs
// no decoding. A file without it may still be whole: decoders accept a missing end.
func HasEnd(file []byte) bool {
	codec, err := codecOf(file)
	if err != nil {
		return false
	}
	switch codecs[codec].name {
	case "JPEG": // the last one, since a thumbnail has an end as well
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
