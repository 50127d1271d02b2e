package images

import (
	"bytes"
	"context"
	"errors"
	"image"
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	stdlib "image/jpeg"
	"image/png"
)

// ending is a context that ends when its method Err is called for the nth time.
type ending struct {
	context.Context
	looks, at int
}

func (e *ending) Err() error {
	if e.looks++; e.looks >= e.at {
		return context.Canceled
	}
	return nil
}

func noise(w, h int) *image.RGBA {
	img, r := image.NewRGBA(image.Rect(0, 0, w, h)), rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
	}
	return img
}

// Every decoder checks the context while it decodes, not only when its pixels are copied. If the context ends
// at any of these checks, no picture is returned.
func TestDecodingEndsWithItsContext(t *testing.T) {
	const w, h = 256, 192
	written := func(encode func(b *bytes.Buffer) error) []byte {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	img := noise(w, h)
	lossy, err := os.ReadFile("../testdata/picture.webp")
	if err != nil {
		t.Fatal(err)
	}
	compressed := func(c tiff.CompressionType) []byte {
		return written(func(b *bytes.Buffer) error { return tiff.Encode(b, img, &tiff.Options{Compression: c}) })
	}
	const buffer = 4096 // bytes that decoders read at a time
	for _, c := range []struct {
		name string
		file []byte
		want int // expected number of calls of Err, in addition to one for each row
	}{
		{"JPEG", written(func(b *bytes.Buffer) error { return stdlib.Encode(b, img, nil) }), h / 16},
		{"progressive JPEG", scanBomb(w, h, 10), 11 * h / 8},
		{"PNG", written(func(b *bytes.Buffer) error { return png.Encode(b, img) }), 3 * w * h / buffer},
		{"BMP", written(func(b *bytes.Buffer) error { return bmp.Encode(b, img) }), h},
		{"TIFF", compressed(tiff.Uncompressed), 1},
		{"deflated TIFF", compressed(tiff.Deflate), 2 * w * h / buffer},
		{"lossless WebP", solidWebP(w, h), 1},
		{"lossy WebP", lossy, 1},
	} {
		all := &ending{Context: t.Context(), at: 1 << 30}
		picture, err := Decode(all, c.file, true)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if rows := picture.Shape[0]; all.looks < rows+c.want {
			t.Errorf("%s: %d looks at the context for %d rows, want %d more", c.name, all.looks, rows, c.want)
		}
		for at := 1; at <= all.looks; at += 1 + all.looks/10 {
			cause := errors.New("the user stops")
			ctx, stop := context.WithCancelCause(t.Context())
			stop(cause)
			_, err := Decode(&ending{ctx, 0, at}, c.file, true)
			if !errors.Is(err, cause) {
				t.Fatalf("%s: at look %d of %d: %v", c.name, at, all.looks, err)
			}
		}
	}
}
