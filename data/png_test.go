package data

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image/png"
	"math/rand/v2"
	"testing"
)

// pngOfNoise writes a PNG of random samples and filters. transparent is the transparent
// colour, or nil.
func pngOfNoise(r *rand.Rand, w, h, bits, kind int, palette, transparent []byte) []byte {
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
	p := pngFile{w: w, bits: bits, kind: kind}
	raw := make([]byte, h*(p.rowBytes()+1))
	for i := range raw {
		if raw[i] = byte(r.Uint32()); r.IntN(4) == 0 {
			raw[i] = 0 // the transparent value
		}
		if i%(p.rowBytes()+1) == 0 {
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

// pixelsOf decodes file with one of the decoders.
func pixelsOf(t testing.TB, rows decoder, file []byte) ([]byte, error) {
	t.Helper()
	var all []byte
	err := rows(t.Context(), file, func(_ int, pixels []byte) { all = append(all, pixels...) })
	return all, err
}

// rowsOfPNG returns, row by row, the same pixels as image/png for PNGs of every kind.
func TestRowsOfPNG(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range []struct{ kind, bits int }{
		{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
		{3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16},
	} {
		for n := range 40 {
			w, h := 1+r.IntN(40), 1+r.IntN(20)
			var palette, transparent []byte
			if k.kind == pngPalette|pngColour {
				palette = make([]byte, 3*(1+r.IntN(1<<k.bits)))
				for i := range palette {
					palette[i] = byte(r.Uint32())
				}
			}
			if n%2 == 1 && k.kind != pngAlpha && k.kind != pngColour|pngAlpha {
				transparent = make([]byte, 2*map[int]int{0: 1, 2: 3, 3: 1}[k.kind])
			}
			file := pngOfNoise(r, w, h, k.bits, k.kind, palette, transparent)
			want, err := pixelsOf(t, rowsBy(png.Decode), file)
			if err != nil {
				t.Fatal(k, err)
			}
			if got, err := pixelsOf(t, rowsOfPNG, file); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("kind %d of %d bits, %d x %d, transparent %v: other pixels (%v)", k.kind, k.bits, w, h,
					transparent, err)
			}
		}
	}
}

// rowsOfPNG refuses the same files as image/png, and reads the others with the same pixels.
func FuzzRowsOfPNG(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	f.Add(pngOfNoise(r, 7, 5, 8, 2, nil, nil))
	f.Add(pngOfNoise(r, 7, 5, 16, 6, nil, nil))
	f.Add(pngOfNoise(r, 7, 5, 2, 3, []byte("abcdef"), []byte{1}))
	f.Add(pngOfNoise(r, 7, 5, 16, 0, nil, []byte{0, 0}))
	f.Fuzz(func(t *testing.T, file []byte) {
		h, w, err := pictureSize(t.Context(), file, false)
		if err != nil || h*w > 1<<16 || !begins(file, "\x89PNG\r\n\x1a\n") {
			return
		}
		want, wantErr := pixelsOf(t, rowsBy(png.Decode), file)
		got, err := pixelsOf(t, rowsOfPNG, file)
		if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
			t.Errorf("error %v, image/png has %v", err, wantErr)
		}
	})
}
