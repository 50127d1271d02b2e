// Package picturetest makes and reads picture files for the tests of packages data and images.
package picturetest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"math/rand/v2"
)

// PNGOfNoise returns a PNG where the samples and the filters are random. transparent is the transparent
// colour, or nil.
func PNGOfNoise(r *rand.Rand, w, h, bits, kind int, palette, transparent []byte) []byte {
	out := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(name string, body []byte) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
		at := len(out)
		out = append(append(out, name...), body...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[at:]))
	}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	chunk("IHDR", append(header, byte(bits), byte(kind), 0, 0, 0))
	if palette != nil {
		chunk("PLTE", palette)
	}
	if transparent != nil {
		chunk("tRNS", transparent)
	}
	samples := map[int]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
	rowBytes := (w*samples*bits + 7) / 8
	raw := make([]byte, h*(rowBytes+1))
	for i := range raw {
		if raw[i] = byte(r.Uint32()); r.IntN(4) == 0 {
			raw[i] = 0 // a frequent value, which may be transparent
		}
		if i%(rowBytes+1) == 0 {
			raw[i] = byte(r.IntN(5))
		}
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(raw)
	_ = z.Close()
	for b := packed.Bytes(); len(b) > 0; {
		n := min(1+r.IntN(300), len(b))
		chunk("IDAT", b[:n])
		b = b[n:]
	}
	chunk("IEND", nil)
	return out
}

// TIFF returns a TIFF with one directory, followed by some bytes. An entry is tag, type and value.
func TIFF(entries [][3]uint32, trailer []byte) []byte {
	b := []byte("II\x2a\x00\x08\x00\x00\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(len(entries)))
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, 4)
		b = binary.LittleEndian.AppendUint32(b, e[1])
		b = binary.LittleEndian.AppendUint32(b, e[2])
	}
	b = append(b, 0, 0, 0, 0)
	return append(b, trailer...)
}

// GreyTIFF returns a grey TIFF of w x h with additional tags.
func GreyTIFF(w, h, compression uint32, tags [][3]uint32, trailer []byte) []byte {
	return TIFF(append([][3]uint32{{256, 1, w}, {257, 1, h}, {258, 1, 8}, {259, 1, compression}, {262, 1, 1}},
		tags...), trailer)
}

// HugePNG returns the beginning of a PNG file that declares a size of w x h pixels.
func HugePNG(w, h uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d")
	header := []byte("IHDR")
	header = binary.BigEndian.AppendUint32(header, w)
	header = binary.BigEndian.AppendUint32(header, h)
	header = append(header, 8, 0, 0, 0, 0)
	b = append(b, header...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(header))
}

// Paint fills the left half of a picture with one colour, and the right half with another.
func Paint(img interface {
	image.Image
	Set(x, y int, c color.Color)
}, left, right color.Color) image.Image {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if x < (b.Min.X+b.Max.X)/2 {
				img.Set(x, y, left)
			} else {
				img.Set(x, y, right)
			}
		}
	}
	return img
}
