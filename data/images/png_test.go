package images

import (
	"bytes"
	"image/png"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/data/internal/picturetest"
)

// pixelsOf decodes file with the decoder rows.
func pixelsOf(t testing.TB, rows decoder, file []byte) ([]byte, error) {
	t.Helper()
	var all []byte
	err := rows(t.Context(), file, func(_ int, pixels []byte) { all = append(all, pixels...) })
	return all, err
}

// rowsOfPNG yields the same pixels as image/png, for PNGs of every kind.
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
			file := picturetest.PNGOfNoise(r, w, h, k.bits, k.kind, palette, transparent)
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

// rowsOfPNG refuses the same files as image/png, and yields the same pixels for all others.
func FuzzRowsOfPNG(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	f.Add(picturetest.PNGOfNoise(r, 7, 5, 8, 2, nil, nil))
	f.Add(picturetest.PNGOfNoise(r, 7, 5, 16, 6, nil, nil))
	f.Add(picturetest.PNGOfNoise(r, 7, 5, 2, 3, []byte("abcdef"), []byte{1}))
	f.Add(picturetest.PNGOfNoise(r, 7, 5, 16, 0, nil, []byte{0, 0}))
	f.Fuzz(func(t *testing.T, file []byte) {
		h, w, err := Size(t.Context(), file, false)
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
