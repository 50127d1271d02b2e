package data

import (
	"bytes"
	"encoding/binary"
)

// ends reports whether a picture file has what its format puts at the end: nearly all that are cut short, as
// by a download that stopped, have not, and it takes no decoding to see. What it says no of may be whole all
// the same: decoders forgive a missing end.
func ends(file []byte) bool {
	codec, err := codecOf(file)
	if err != nil {
		return false
	}
	switch codecs[codec].name {
	case "JPEG": // the last, since a thumbnail has an end of its own
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
