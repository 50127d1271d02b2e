package images

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/data/internal/picturetest"
)

// bitString collects bits. The first bit is the lowest bit of a byte.
type bitString struct {
	bytes []byte
	n     int
}

func (b *bitString) put(v uint32, count int) {
	for i := range count {
		if b.n%8 == 0 {
			b.bytes = append(b.bytes, 0)
		}
		b.bytes[b.n/8] |= byte(v>>i&1) << (b.n % 8)
		b.n++
	}
}

// scanBomb returns a grey progressive JPEG of w x h pixels, with a complete DC scan followed by a number of
// other scans. Each of these marks all blocks as finished in a few bytes.
func scanBomb(w, h, scans int) []byte {
	segment := func(marker byte, body ...byte) []byte {
		return append([]byte{0xff, marker, 0, byte(2 + len(body))}, body...)
	}
	table := func(class byte, symbol byte) []byte { // a code of a single symbol with one bit: 0
		return segment(0xc4, append(append([]byte{class}, 1), append(make([]byte, 15), symbol)...)...)
	}
	file := []byte{0xff, 0xd8}
	file = append(file, segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)...)
	file = append(file, segment(0xc2, 8, byte(h>>8), byte(h), byte(w>>8), byte(w), 1, 1, 0x11, 0)...)
	file = append(file, table(0x00, 0)...)
	file = append(file, table(0x10, 0xe0)...) // end of 2^14 blocks, followed by 14 more bits
	blocks := (w + 7) / 8 * ((h + 7) / 8)
	file = append(file, segment(0xda, 1, 1, 0, 0, 0, 0)...)
	file = append(file, make([]byte, (blocks+7)/8)...)
	for range scans {
		file = append(file, segment(0xda, 1, 1, 0, 1, 63, 0)...)
		file = append(file, make([]byte, (15*(blocks>>14+1)+7)/8)...)
	}
	return append(file, 0xff, 0xd9)
}

// zeros returns n zero bytes, compressed.
func zeros(n int) []byte {
	var b bytes.Buffer
	z, _ := zlib.NewWriterLevel(&b, 9)
	for chunk := make([]byte, 1<<20); n > 0; n -= len(chunk) {
		z.Write(chunk[:min(n, len(chunk))])
	}
	z.Close()
	return b.Bytes()
}

// overlapping returns a TIFF where all strips share the same bytes. The bytes decode to nothing: they are
// PackBits' no-operation.
func overlapping(strips uint32) []byte {
	behind := bytes.Repeat([]byte{0x80}, 1<<16)
	const directory = 8 + 2 + 8*12 + 4
	at := uint32(directory + len(behind))
	for _, v := range []uint32{directory, 1 << 16} { // offset and count
		for range strips {
			behind = binary.LittleEndian.AppendUint32(behind, v)
		}
	}
	tags := [][3]uint32{{273, strips, at}, {278, 1, 1}, {279, strips, at + 4*strips}}
	return picturetest.GreyTIFF(1, strips, 32773, tags, behind)
}

// solidWebP returns a lossless WebP of w x h pixels, where the pixels need no bits at all.
func solidWebP(w, h uint32) []byte {
	var b bitString
	b.put(0x2f, 8)
	b.put(w-1, 14)
	b.put(h-1, 14)
	b.put(0, 1+3+1+1+1) // alpha, version, no transform, no cache, one group of codes
	for range 5 {
		b.put(1, 4) // a code of one symbol, 0
	}
	return riff("VP8L", b.bytes)
}

func riff(name string, chunk []byte) []byte {
	if len(chunk)%2 == 1 {
		chunk = append(chunk, 0)
	}
	file := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(12+len(chunk)))
	file = append(file, "WEBP"+name...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(chunk))), chunk...)
}

// lossyWebP returns only the header of a key frame of VP8.
func lossyWebP(w, h uint16) []byte {
	frame := []byte{0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a}
	frame = binary.LittleEndian.AppendUint16(frame, w)
	frame = binary.LittleEndian.AppendUint16(frame, h)
	return riff("VP8 ", append(frame, make([]byte, 64)...))
}

func bmpOf(w, h uint32) []byte {
	b := []byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00")
	b = binary.LittleEndian.AppendUint32(b, w)
	b = binary.LittleEndian.AppendUint32(b, h)
	b = append(b, 1, 0, 24, 0)
	return append(b, make([]byte, 24)...)
}

func solidPNG(w, h int) []byte {
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	_ = e.Encode(&b, image.NewGray(image.Rect(0, 0, w, h)))
	return b.Bytes()
}

// pngOfData returns a grey PNG of w x h pixels with this compressed data.
func pngOfData(w, h uint32, data []byte) []byte {
	b := picturetest.HugePNG(w, h)
	chunk := append([]byte("IDAT"), data...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	b = append(b, chunk...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(chunk))
}

// Files that are made to use gigabytes or minutes are refused with an error, or they use at most a constant
// amount of memory and time for each of their bytes.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time and memory of one decoder at a time, in make test: nothing that could race")
	}
	deflated := zeros(1 << 30)
	const head = 8 + 2 + 8*12 + 4 // length of the head of a TIFF with three more tags
	tags := [][3]uint32{{273, 1, head}, {278, 1, 1<<32 - 1}, {279, 1, uint32(len(deflated))}}
	strip := picturetest.GreyTIFF(16, 16, 8, tags,
		deflated)
	tile := picturetest.GreyTIFF(16, 16, 8, [][3]uint32{{322, 1, 1 << 20}, {323, 1, 1 << 20},
		{324, 1, head + 12},
		{325, 1, uint32(len(deflated))}}, deflated)
	for _, c := range []struct {
		name string
		file []byte
		want string // text in the error; "": the file is decoded
	}{
		{"scans of a large JPEG", scanBomb(8184, 8184, 1000), "JPEG: its scans go over 1047575529 blocks"},
		{"scans below the limit", scanBomb(4096, 4096, 30), ""},
		{"scans of a small JPEG", scanBomb(64, 64, 20000), ""},
		{"JPEG of a head", scanBomb(2048, 2048, 0)[:200], "65536 blocks of 8 x 8 pixels in 200 bytes"},
		{"PNG of a head", picturetest.HugePNG(8000, 8000), "8000 x 8000 pixels in 33 bytes"},
		{"PNG of nothing", solidPNG(4000, 4000), ""},
		{"PNG with more data than pixels", pngOfData(16, 16, deflated), "PNG"},
		{"BMP of a head", bmpOf(8000, 8000), "8000 x 8000 pixels in 54 bytes"},
		{"lossless WebP of nothing", solidWebP(8000, 8000), "8000 x 8000 pixels in"},
		{"lossless WebP of nothing, free", solidWebP(2048, 2048), ""},
		{"lossy WebP of a head", lossyWebP(8000, 8000), "8000 x 8000 pixels in"},
		{"TIFF of a head", picturetest.GreyTIFF(8000, 8000, 1, nil, nil), "8000 x 8000 pixels in"},
		{"TIFF of one tile", tile, "tile size exceeds"},
		{"TIFF of one strip without end", strip, ""},
		{"TIFF of one strip many times", overlapping(1 << 16), "they stand for the same bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			_, err := Decode(t.Context(), c.file, true)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			used := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes: %v, %.1f MB: %v", len(c.file), took.Round(time.Millisecond), float64(used)/1e6, err)
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if c.want == "" && err != nil {
				t.Error(err)
			}
			// A picture of up to FreePixels pixels uses up to 11 bytes for each pixel. The tiles and planes of the
			// decoder need the same number again.
			if most := uint64(24*FreePixels + 24*maxPixelsPerByte*len(c.file)); used > min(most, 1<<30) {
				t.Errorf("%d bytes are allocated for a file of %d", used, len(c.file))
			}
			if took > time.Minute { // five seconds are enough on an idle machine
				t.Errorf("it took %v", took)
			}
		})
	}
}
